import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { isUnrecordedRequestError, replay, runWith, type ReplayReport } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";

export interface Servers extends Disposable {
  readonly http: string;
  readonly http2: string;
  /** The port of a server that does not speak HTTP. */
  readonly database: number;
  /** The bytes that arrived since the last call. */
  received(): Promise<string[]>;
}

/** Servers of another process: those of this one are allowed. */
export async function otherProcess(): Promise<Servers> {
  const child = fork(fileURLToPath(new URL("server.mjs", import.meta.url)), { execArgv: [] });
  const next = async <T>(): Promise<T> => ((await once(child, "message")) as [T])[0];
  const [http, http2, database] = await next<[number, number, number]>();
  return {
    http: `http://127.0.0.1:${http}`,
    http2: `http://127.0.0.1:${http2}`,
    database,
    received() {
      const answer = next<string[]>();
      child.send({});
      return answer;
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}

export const emptySnapshot = await runWith(() => dumpSnapshot());

/** How a strict replay of `fn` ends. */
export async function strictReplay(
  fn: () => Promise<unknown>,
  options: Partial<Parameters<typeof replay>[1]> = {},
): Promise<{ refused: boolean; result: unknown; report: ReplayReport }> {
  let report!: ReplayReport;
  const result = await replay(fn, { snapshot: emptySnapshot, ...options, onReport: (given) => (report = given) }).catch(
    (error: unknown) => error,
  );
  return { refused: isUnrecordedRequestError(result), result, report };
}
