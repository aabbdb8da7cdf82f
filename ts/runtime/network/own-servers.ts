import net from "node:net";

/** Servers that were not open when the guard was installed, or do not keep the process alive. */
const started = new Set<WeakRef<net.Server>>();

/** Notices servers that start to listen from now on. */
export function watchServers(): void {
  const { listen } = net.Server.prototype;
  net.Server.prototype.listen = function (this: net.Server, ...args: never[]): net.Server {
    started.add(new WeakRef(this));
    return Reflect.apply(listen, this, args) as net.Server;
  } as typeof listen;
}

/** True if a server of this process listens on the port or the path. */
export function isOwnServer({ hostname, port, protocol }: URL, socketPath: string | undefined): boolean {
  const number = Number(port) || (protocol === "https:" ? 443 : 80);
  return servers().some((server) => {
    const address = server.address();
    if (typeof address !== "object" || address === null) return socketPath !== undefined && address === socketPath;
    if (socketPath !== undefined || address.port !== number) return false;
    const host = hostname.replaceAll(/^\[|\]$/g, "");
    return isLoopback(host) || host === address.address;
  });
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^(?:127\.|0\.0\.0\.0$)/.test(host);
}

function servers(): net.Server[] {
  const handles = (process as { _getActiveHandles?: () => unknown[] })._getActiveHandles?.() ?? [];
  const open = handles.filter((handle) => handle instanceof net.Server);
  for (const ref of started) {
    const server = ref.deref();
    if (server === undefined) started.delete(ref);
    else if (server.listening) open.push(server);
  }
  return open;
}
