import type { AuditEntry } from '../../data/team/audit.ts'
import { t } from '../../text/index.ts'

/** What was done, and how often, as a line says it. */
export function actionText({ action, count }: Pick<AuditEntry, 'action' | 'count'>): string {
  const { actions, times } = t.settings.audit
  const words: Record<string, string> = actions
  return [words[action] ?? action, ...(count > 1 ? [times({ count })] : [])].join(' ')
}

/** What can be looked for, by its word before the dot. */
export const resourceTexts = (): { value: string; label: string }[] =>
  Object.entries(t.settings.audit.things).map(([value, label]) => ({ value, label }))
