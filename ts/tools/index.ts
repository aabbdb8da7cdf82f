export { wrapTools } from "./wrap-tools.js";
