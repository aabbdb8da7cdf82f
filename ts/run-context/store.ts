import { AsyncLocalStorage } from "node:async_hooks";

import type { Context } from "../runtime/scope/run-context.js";

// Two copies of the package in one process (ESM and CommonJS, two versions) share the context.
const KEY = Symbol.for("agent-rewind/context@1");
const shared = globalThis as { [KEY]?: AsyncLocalStorage<Context> };

export const storage: AsyncLocalStorage<Context> = (shared[KEY] ??= new AsyncLocalStorage<Context>());
