export { AuditLogError, isAuditLogError } from "../errors/audit.js";
export { openAuditLog, type AuditHead, type AuditLog, type AuditLogOptions } from "./log.js";
export { verifyLog, type AuditProblem, type AuditReport, type VerifiedLine, type VerifyLogOptions } from "./verify.js";
