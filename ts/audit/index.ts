export { AuditLogError, isAuditLogError } from "../errors/audit.js";
export type { AuditHead } from "./line.js";
export { openAuditLog, type AuditLog } from "./log.js";
export type { AuditLogOptions } from "./options.js";
export { verifyLog, type AuditProblem, type AuditReport, type VerifiedLine, type VerifyLogOptions } from "./verify.js";
