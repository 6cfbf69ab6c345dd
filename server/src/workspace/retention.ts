import type { WorkspaceRow } from './workspace.ts'

/** For how many days a workspace keeps what; null: for ever. */
export interface Retention {
  conversationsDays: number | null
  activitiesDays: number | null
  sendsDays: number | null
  submissionsDays: number | null
  auditDays: number | null
}

export type RetentionColumns = Pick<
  WorkspaceRow,
  'keep_conversations_days' | 'keep_activities_days' | 'keep_sends_days' | 'keep_submissions_days' | 'keep_audit_days'
>

/** Two years. */
export const defaultAuditDays = 730

export const keepsEverything: RetentionColumns = {
  keep_conversations_days: null,
  keep_activities_days: null,
  keep_sends_days: null,
  keep_submissions_days: null,
  keep_audit_days: defaultAuditDays,
}

export function retentionOf(row: RetentionColumns): Retention {
  return {
    conversationsDays: row.keep_conversations_days,
    activitiesDays: row.keep_activities_days,
    sendsDays: row.keep_sends_days,
    submissionsDays: row.keep_submissions_days,
    auditDays: row.keep_audit_days,
  }
}

export function withRetention(before: RetentionColumns, patch: Partial<Retention>): RetentionColumns {
  const after = { ...retentionOf(before), ...patch }
  return {
    keep_conversations_days: after.conversationsDays,
    keep_activities_days: after.activitiesDays,
    keep_sends_days: after.sendsDays,
    keep_submissions_days: after.submissionsDays,
    keep_audit_days: after.auditDays,
  }
}
