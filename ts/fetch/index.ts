export { rewindFetch, type RewindFetchOptions } from "./rewind-fetch.js";
export type { UrlPattern } from "../urls/patterns.js";
