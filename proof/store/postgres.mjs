// A PostgreSQL server of its own for tests and proofs, in a temporary folder.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folder of the newest installed server; undefined if there is none. */
export function serverBinaries() {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).map(Number).filter(Boolean) : [];
  const newest = Math.max(...versions);
  return versions.length === 0 ? undefined : join(root, String(newest), "bin");
}

/** Starts a server. It refuses to run as root, so root starts it as another user. */
export async function startPostgres(binaries = serverBinaries()) {
  const folder = mkdtempSync(join(tmpdir(), "rewind-postgres-"));
  const user = process.getuid() === 0 ? userWithoutRights() : undefined;
  if (user !== undefined) {
    chownSync(folder, user.uid, user.gid);
    chmodSync(folder, 0o700);
  }
  const data = join(folder, "data");
  const options = {
    ...user,
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH },
  };
  const run = (program, ...args) => execFileSync(join(binaries, program), args, options);
  run("initdb", "--pgdata", data, "--username", "rewind", "--auth", "trust", "--encoding", "UTF8", "--no-sync");
  const port = await freePort();
  const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c max_connections=200`;
  const control = (...args) => {
    // The server keeps the pipes of its parent open, so it gets none.
    const { status } = spawnSync(join(binaries, "pg_ctl"), ["--pgdata", data, "-w", ...args], {
      ...options,
      stdio: "ignore",
    });
    if (status !== 0) throw new Error(`pg_ctl ${args.join(" ")} failed with ${status}; see ${join(folder, "log")}`);
  };
  const start = () => control("-l", join(folder, "log"), "-o", settings, "start");
  start();
  return {
    port,
    /** As after a power failure. */
    restart() {
      control("-m", "immediate", "stop");
      start();
    },
    stop() {
      control("-m", "immediate", "stop");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function userWithoutRights() {
  const idOf = (flag) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
