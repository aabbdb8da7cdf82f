const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Bytes that are in use, native memory included. The part of V8's heap that is free for reuse does
 * not count. Needs --expose-gc.
 */
export async function bytesInUse() {
  // Native objects are freed in the turns after the collection of their handles.
  for (let turn = 0; turn < 3; turn++) {
    globalThis.gc();
    await nextTurn();
  }
  const { rss, heapTotal, heapUsed } = process.memoryUsage();
  return rss - heapTotal + heapUsed;
}
