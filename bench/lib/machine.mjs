import { cpus, loadavg, release, totalmem, type } from "node:os";

/** The machine and the versions of the measurement. */
export function machine() {
  const processors = cpus();
  return {
    cpu: `${processors[0]?.model.trim() ?? "unknown"} × ${processors.length}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    node: process.version,
    v8: process.versions.v8,
    os: `${type()} ${release()} ${process.arch}`,
    load: loadavg()[0],
  };
}
