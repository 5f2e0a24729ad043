// The door of the audit.

export { appendAudit, listAudit, type AuditRecord } from './records.ts';
export { auditHandlers } from './routes.ts';
