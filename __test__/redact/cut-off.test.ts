// Bodies that break off, or are dumped, in the middle of a secret.
import { replay, runWith, type TraceEvent } from "agent-rewind";
import { dumpSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { expect, it } from "vitest";

const SECRET = `ghp_${"aB3dE6gH9jK2mN5pQ8sT".repeat(2).slice(0, 36)}`;
const BODY = `data: {"text":"your key: ${SECRET}"}\n\n`;
const START = BODY.indexOf(SECRET);

type Reader = ReadableStreamDefaultReader<Uint8Array>;
const options = { redact: true } as const;

/** Receives a body up to a byte and then calls `ends`. Returns the run and everything written of it. */
async function run(cut: number, ends: (reader: Reader, fail: () => void) => Promise<unknown>) {
  let source: ReadableStreamDefaultController<Uint8Array> | undefined;
  const fetch = rewindFetch(async () => {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (source = controller) });
    source?.enqueue(Buffer.from(BODY.slice(0, cut)));
    return new Response(body);
  });
  const program = async (): Promise<unknown[]> => {
    const reader = (await fetch("http://host/")).body?.getReader() as Reader;
    const { value } = await reader.read();
    dumps.push(dumpSnapshot());
    const end = await ends(reader, () => source?.error(new Error("broken off"))).catch(String);
    return [Buffer.from(value ?? []).toString(), end];
  };
  const dumps: ReturnType<typeof dumpSnapshot>[] = [];
  const events: TraceEvent[] = [];
  let seen: unknown[] = [];
  await runWith(
    async () => {
      // Not the run's result: a program is responsible for its own use of half a secret.
      seen = await program();
      dumps.push(dumpSnapshot());
    },
    { ...options, eventBus: { emit: (event) => void events.push(event) } },
  );
  const [between, after] = dumps as [(typeof dumps)[0], (typeof dumps)[0]];
  return { program, seen, after, written: [between, after].map(stringifySnapshot).concat(JSON.stringify(events)) };
}

it.each<[string, (reader: Reader, fail: () => void) => Promise<unknown>]>([
  ["cancelled", (reader) => reader.cancel()],
  ["broken off", (reader, fail) => (fail(), reader.read())],
  ["left", async (reader) => reader.releaseLock()],
])("writes no half of a secret when a body is %s", async (_name, ends) => {
  for (let cut = START + 6; cut < START + SECRET.length; cut++) {
    const { written, seen } = await run(cut, ends);
    expect(seen[0]).toBe(BODY.slice(0, cut));
    for (const text of written) {
      expect(text).not.toContain(SECRET.slice(0, 6));
      expect(text).toContain("your key: ");
    }
  }
});

it("replays the text before the secret, and the end", async () => {
  const { program, after, seen } = await run(START + 20, (reader, fail) => (fail(), reader.read()));
  expect(seen[1]).toBe("Error: broken off");
  expect(await replay(program, { snapshot: after, ...options })).toEqual([BODY.slice(0, START), "Error: broken off"]);
});

it("redacts only the secret in a body that ended normally", async () => {
  const { written } = await run(BODY.length - 1, (reader) => reader.cancel());
  for (const text of written) {
    expect(text).not.toContain(SECRET.slice(0, 6));
    expect(text).toMatch(/your key: \[redacted:[^\]]+\]/);
  }
});
