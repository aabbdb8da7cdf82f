// Requests that are answered when a test says so, and the recordings of a run with them.
import { runWith, type TraceEvent } from "agent-rewind";
import {
  dumpSnapshot,
  parseSnapshot,
  restoreSnapshot,
  stringifySnapshot,
  type AgentSnapshot,
} from "agent-rewind/debugger";

/** A fetch whose heads and bodies arrive when the test says so. A chunk is the path and the number of the request. */
export function manual(): {
  fetch: typeof globalThis.fetch;
  asked: string[];
  head(path: string): void;
  end(path: string): void;
} {
  const heads = new Map<string, () => void>();
  const bodies = new Map<string, ReadableStreamDefaultController<Uint8Array>>();
  const asked: string[] = [];
  return {
    asked,
    async fetch(input, init) {
      const path = new URL(input as string).pathname;
      asked.push(path);
      const { signal } = init ?? {};
      await new Promise<void>((resolve, reject) => {
        heads.set(path, resolve);
        signal?.addEventListener("abort", () => reject(signal.reason as Error));
      });
      const body = new ReadableStream<Uint8Array>({ start: (controller) => void bodies.set(path, controller) });
      bodies.get(path)?.enqueue(Buffer.from(`${path} ${asked.length}`));
      return new Response(body);
    },
    head: (path) => heads.get(path)?.(),
    end: (path) => bodies.get(path)?.close(),
  };
}

export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => void setImmediate(resolve));
};

/**
 * Returns the result of a run with its recordings: its dump, the dump after a JSON round trip, and the snapshot
 * restored from its trace.
 */
export async function recorded<T>(
  program: () => Promise<T>,
  direct: () => Promise<void> = async () => {},
  snapshot?: AgentSnapshot,
): Promise<{ value: T; snapshots: AgentSnapshot[]; events: TraceEvent[] }> {
  const events: TraceEvent[] = [];
  let dump: AgentSnapshot | undefined;
  const run = runWith(
    async () => {
      const value = await program();
      dump = dumpSnapshot();
      return value;
    },
    { eventBus: { emit: (event) => void events.push(event) }, ...(snapshot === undefined ? {} : { snapshot }) },
  );
  await direct();
  const value = await run;
  const whole = dump as AgentSnapshot;
  return { value, snapshots: [whole, parseSnapshot(stringifySnapshot(whole)), restoreSnapshot(events)], events };
}
