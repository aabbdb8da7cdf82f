import { openStore, postgresStore } from "agent-rewind/store";

/** A pool of connections to a server of `startPostgres`. */
export async function connectPool(port) {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ host: "127.0.0.1", port, user: "rewind", database: "postgres", max: 4 });
  // A connection that the server closes while nobody uses it.
  pool.on("error", () => {});
  return pool;
}

/** True for the errors of a server that is being restarted. */
export function isUnreachable(error) {
  return /^(?:ECONN|EPIPE|08|57P)/.test(error?.code) || /terminated|Connection ended/.test(error?.message);
}

/** Opens the store of a proof: `sqlite:…`, or `postgres:` and a port of this machine. */
export async function connect(url) {
  if (url.startsWith("sqlite:")) return openStore(url);
  const pool = await connectPool(Number(url.slice("postgres:".length)));
  for (;;) {
    try {
      const store = await postgresStore({ pool });
      return Object.assign(store, { close: () => pool.end() });
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
