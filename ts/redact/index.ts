export { RedactError, isRedactError } from "../errors/redact.js";
export { createRedactor, type RedactFinding, type Redactor } from "./redactor.js";
export type { BuiltinRedactRule, RedactOptions, RedactRule } from "./rules.js";
export type { RedactStream, RedactStreamOptions } from "./stream.js";
