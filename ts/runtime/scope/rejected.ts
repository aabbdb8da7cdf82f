/** For functions that give a promise without being async: whatever was thrown, as they would reject with it. */
export async function rejected(error: unknown): Promise<never> {
  throw error;
}
