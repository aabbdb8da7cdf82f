// The network guard: what reaches the network in a guarded run without being recorded is refused or reported. It stands
// below mocks such as MSW and nock, at the last place where Node.js still knows the request and who sends it.

import { guardHttp } from "./http.js";
import { guardHttp2 } from "./http2.js";
import { guardSockets } from "./sockets.js";
import { guardUndici } from "./undici.js";

// Two copies of the package in one process install it once.
const KEY = Symbol.for("agent-rewind/network-guard@1");
const shared = globalThis as { [KEY]?: true };

/** Installs the guard. It does nothing while no run is guarded, and stays installed. */
export function installGuard(): void {
  if (shared[KEY] === true) return;
  shared[KEY] = true;
  guardUndici();
  guardHttp();
  guardHttp2();
  guardSockets();
}
