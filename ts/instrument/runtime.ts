import { UnsupportedNodeError } from "../errors/platform.js";

/** @throws UnsupportedNodeError unless this is Node.js 22.15 or later. */
export function checkRuntime(entryPoint: string): void {
  const { bun, deno, node } = process.versions as Partial<Record<string, string>>;
  if (bun !== undefined) throw new UnsupportedNodeError(`Bun ${bun}`, entryPoint);
  if (deno !== undefined) throw new UnsupportedNodeError(`Deno ${deno}`, entryPoint);
  const [major = 0, minor = 0] = (node ?? "").split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 15)) throw new UnsupportedNodeError(`Node.js ${node}`, entryPoint);
}
