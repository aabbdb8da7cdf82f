import { replay, runWith, type AgentSnapshot } from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";

/** Runs a program. Returns its result and its recording, parsed as if from a file. */
export async function record<R>(
  program: () => Promise<R>,
): Promise<{ value: R; snapshot: AgentSnapshot; text: string }> {
  const { value, text } = await runWith(
    async () => ({ value: await program(), text: stringifySnapshot(dumpSnapshot()) }),
    { enableSnapshot: true },
  );
  return { value, snapshot: parseSnapshot(text), text };
}

/** Runs a program against a recording without live calls. */
export const replayed = <R>(program: () => Promise<R>, snapshot: AgentSnapshot): Promise<R> =>
  replay(program, { snapshot });

/** The outcome of a promise, with an error as a program sees it. */
export async function outcome<R>(promise: Promise<R>): Promise<{ value: R } | { error: object }> {
  try {
    return { value: await promise };
  } catch (error) {
    const { name, message, status, code, type } = error as Error & { status?: number; code?: string; type?: string };
    return { error: { name, message, status, code, type, class: (error as Error).constructor.name } };
  }
}
