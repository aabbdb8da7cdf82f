export { rewindFetch, type RewindFetchOptions } from "./rewind-fetch.js";
