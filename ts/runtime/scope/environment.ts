/**
 * True if NODE_ENV is "production". Snapshots are off there by default, for both dump and replay. Otherwise, also if
 * NODE_ENV is not set, they are on. Read when a run starts, so that a test can set it.
 */
export function isProduction(): boolean {
  return process.env["NODE_ENV"] === "production";
}
