import { journalCall, replay, runWith, type AgentSnapshot, type ReplayMissError } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { expect, it } from "vitest";

/** A request with a leaf at each of many paths. */
function requestOf(entry: number, planted?: string): object {
  const leaf = (pointer: string): string =>
    `${planted === pointer ? "another" : "the"} value of ${pointer} in ${entry}`;
  return Object.fromEntries(
    Array.from({ length: 10 }, (_, section) => [
      `section ${section}/~`,
      Array.from({ length: 5 }, (_unused, place) => ({
        kept: "is the same",
        leaf: leaf(`/input/section ${section}~1~0/${place}/leaf`),
      })),
    ]),
  );
}
const PLACES = Array.from({ length: 50 }, (_, at) => `/input/section ${Math.floor(at / 5)}~1~0/${at % 5}/leaf`);

it("a miss names each of 50 planted differences by its JSON pointer among 200 recorded requests", async () => {
  let snapshot: AgentSnapshot | undefined;
  const ask = (entry: number, planted?: string): Promise<number> =>
    journalCall({ kind: "step", name: "s", request: requestOf(entry, planted) }, () => entry);
  await runWith(async () => {
    for (let entry = 0; entry < 200; entry += 1) await ask(entry);
    snapshot = dumpSnapshot();
  });
  for (const [at, pointer] of PLACES.entries()) {
    const entry = at * 3;
    const error = (await replay(() => ask(entry, pointer), { snapshot: snapshot as AgentSnapshot }).catch(
      (caught: unknown) => caught,
    )) as ReplayMissError;
    expect(error.explanation?.nearest?.callId).toBe(`root/step:s:${entry}`);
    expect(error.explanation?.differences.map((difference) => difference.pointer)).toEqual([pointer]);
  }
});
