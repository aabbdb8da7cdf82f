/** A promise that is rejected with any thrown value. For functions that return promises without being async. */
export async function rejected(error: unknown): Promise<never> {
  throw error;
}
