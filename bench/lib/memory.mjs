/** Collects garbage, native memory included: that is freed in the turn after its handles. */
export async function collectGarbage() {
  globalThis.gc();
  await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Bytes that are in use, native memory included. The part of V8's heap that is free for reuse does
 * not count. Needs --expose-gc.
 */
export async function bytesInUse() {
  for (let round = 0; round < 3; round++) await collectGarbage();
  const { rss, heapTotal, heapUsed } = process.memoryUsage();
  return rss - heapTotal + heapUsed;
}
