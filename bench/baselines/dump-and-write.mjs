// A journal of plain objects, dumped and written as usual in JavaScript.

import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** Returns a copy that later entries do not change. */
export function deepCopy(snapshot) {
  return structuredClone(snapshot);
}

/** Writes a snapshot so that a crash leaves either the old or the new file, as `writeSnapshot` does. */
export function writeJson(path, snapshot) {
  return writeContent(path, JSON.stringify(snapshot));
}

/** The same for content that is already text or bytes. */
export async function writeContent(path, content) {
  const temporary = `${path}.tmp`;
  const file = await open(temporary, "w");
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
