// p-queue starts a task in the async context of the one before, so the calls of one agent or test would be recorded in
// another one. LangChain uses it for `maxConcurrency`. Its queues are made to start each task in the context of its `add`.

import { createRequire } from "node:module";

import { storage, type RunContext } from "./run-context.js";

interface Queue {
  add(task: unknown, ...rest: unknown[]): unknown;
}

interface Emitter {
  emit(...args: unknown[]): boolean;
}

type Task = (...args: unknown[]) => unknown;

const { cache } = createRequire(import.meta.url);
const watched = new WeakSet<object>();
let modules = -1;
let runs = 0;
/** A look at the list of modules costs more than the rest of an empty run. */
const ALWAYS_LOOKS = 100;

/** Finds the copies of p-queue that were loaded before a run begins, by the module of which its class is made. */
export function bindQueues(): void {
  runs += 1;
  if (runs > ALWAYS_LOOKS && runs % ALWAYS_LOOKS > 0) return;
  const files = Object.keys(cache);
  if (files.length === modules) return;
  modules = files.length;
  for (const file of files) {
    if (!/[\\/]eventemitter3[\\/]index\.js$/.test(file)) continue;
    const emitter = (cache[file]?.exports as { prototype?: Emitter } | undefined)?.prototype;
    if (emitter === undefined || watched.has(emitter)) continue;
    watched.add(emitter);
    const { emit } = emitter;
    // A queue emits an event before it starts its first task.
    emitter.emit = function (this: Emitter, ...args): boolean {
      bindTasks(Object.getPrototypeOf(this) as object);
      return emit.apply(this, args);
    };
  }
}

function bindTasks(prototype: object): void {
  if (watched.has(prototype)) return;
  watched.add(prototype);
  if (!("concurrency" in prototype && "onIdle" in prototype && "add" in prototype)) return;
  const queue = prototype as Queue;
  const { add } = queue;
  if (typeof add !== "function") return;
  queue.add = function (this: Queue, task, ...rest): unknown {
    const context = storage.getStore();
    if (typeof task !== "function") return add.call(this, task, ...rest);
    return add.call(this, (...args: unknown[]) => storage.run(context as RunContext, task as Task, ...args), ...rest);
  };
}
