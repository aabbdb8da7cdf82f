// The requests that programs send, and how a client stops.

import { CONTENT, HIDDEN } from "./content.mjs";

/** An answer, or the failure of a client that is stopped before. */
export async function unlessStopped(signal, answer) {
  if (signal === undefined || signal === null) return answer;
  let stop;
  const stopped = new Promise((_, reject) => {
    stop = () => reject(new DOMException("This operation was aborted", "AbortError"));
  });
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([answer, stopped]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The request that a program describes by plain data. */
export function requestOf({ with: content, ...rest }) {
  if (content === undefined) return rest;
  const [kind, letter] = content;
  return { ...rest, with: { ...CONTENT, ...HIDDEN }[kind](letter) };
}
