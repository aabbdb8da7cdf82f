import { describe, expect, it } from "vitest";
import * as z4 from "zod";
import * as mini from "zod/mini";
import { z as z3 } from "zod3";
import { validateWith } from "../../ts/schema/index.js";

describe("validateWith", () => {
  it.each([
    ["zod 3", z3 as any],
    ["zod 4", z4 as any],
  ])("validates with %s", async (_name, z) => {
    const schema = z.object({ a: z.string().transform(Number), list: z.array(z.object({ n: z.number() })) });
    expect(await validateWith(schema, { a: "7", list: [{ n: 1 }], extra: 1 })).toEqual({
      value: { a: 7, list: [{ n: 1 }] },
    });
    const result = await validateWith(schema, { a: 1, list: [{ n: 1 }, { n: "x" }] });
    expect(result).toEqual({
      issues: [
        { path: "a", message: expect.stringMatching(/string/i) as unknown },
        { path: "list.1.n", message: expect.stringMatching(/number/i) as unknown },
      ],
    });
    expect(await validateWith(z.string(), 1)).toMatchObject({ issues: [{ path: "" }] });
  });

  it.each([
    ["zod 3", z3 as any],
    ["zod 4", z4 as any],
  ])("awaits asynchronous refinements of %s and runs each once", async (_name, z) => {
    let calls = 0;
    const schema = z.string().refine(async (text: string) => {
      calls++;
      return text === "ok";
    }, "not ok");
    expect(await validateWith(schema, "ok")).toEqual({ value: "ok" });
    expect(await validateWith(schema, "no")).toEqual({ issues: [{ path: "", message: "not ok" }] });
    expect(calls).toBe(2);
  });

  it("validates with zod/mini", async () => {
    expect(await validateWith(mini.object({ a: mini.number() }), { a: 1 })).toEqual({ value: { a: 1 } });
    expect(await validateWith(mini.object({ a: mini.number() }), {})).toMatchObject({ issues: [{ path: "a" }] });
  });

  it("validates with any Standard Schema", async () => {
    const standard = (result: unknown) => ({ "~standard": { version: 1, vendor: "v", validate: () => result } });
    expect(await validateWith(standard({ value: 3 }), 1)).toEqual({ value: 3 });
    expect(await validateWith(standard(Promise.resolve({ value: undefined })), 1)).toEqual({ value: undefined });
    expect(
      await validateWith(
        standard({ issues: [{ message: "m", path: [{ key: "a" }, 0, Symbol("s")] }, { message: "n" }] }),
        1,
      ),
    ).toEqual({
      issues: [
        { path: "a.0.Symbol(s)", message: "m" },
        { path: "", message: "n" },
      ],
    });
    const asFunction = Object.assign(() => 1, standard({ value: 4 }));
    expect(await validateWith(asFunction, 1)).toEqual({ value: 4 });
  });

  it("names the expected kinds of schema in its error", async () => {
    for (const none of [undefined, null, {}, [], "x"])
      await expect(validateWith(none, 1)).rejects.toThrow(/Standard Schema/);
  });

  it("passes on errors thrown by the schema's own functions", async () => {
    const schema = z4.string().transform(() => {
      throw new RangeError("from the schema");
    });
    await expect(validateWith(schema, "a")).rejects.toThrow("from the schema");
  });
});
