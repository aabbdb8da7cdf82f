/** Collects garbage including native memory, which is freed in the turn after its handles. */
export async function collectGarbage() {
  globalThis.gc();
  await new Promise((resolve) => setImmediate(resolve));
}

/**
 * The bytes in use including native memory. Excludes the part of V8's heap that is free for reuse. Needs --expose-gc.
 */
export async function bytesInUse() {
  for (let round = 0; round < 3; round++) await collectGarbage();
  const { rss, heapTotal, heapUsed } = process.memoryUsage();
  return rss - heapTotal + heapUsed;
}
