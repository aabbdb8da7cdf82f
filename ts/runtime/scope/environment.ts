/**
 * True if NODE_ENV is "production": snapshots are off by default there, for dump and replay alike. Everywhere else,
 * also where NODE_ENV is unset, they are on. Read when a run starts, so that a test can set it.
 */
export function isProduction(): boolean {
  return process.env["NODE_ENV"] === "production";
}
