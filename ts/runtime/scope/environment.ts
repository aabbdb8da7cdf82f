/** Whether snapshots are on by default. Read when a run starts, so that a test can set it. */
export function isDevelopment(): boolean {
  const { NODE_ENV } = process.env;
  return NODE_ENV === "development" || NODE_ENV === "test";
}

export function isProduction(): boolean {
  return process.env["NODE_ENV"] === "production";
}
