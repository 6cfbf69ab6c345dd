import type { AuditEntry } from '../../data/team/audit.ts'
import { t } from '../../text/index.ts'

/** Returns the action of an entry, and how many times. */
export function actionText({ action, count }: Pick<AuditEntry, 'action' | 'count'>): string {
  const { actions, times } = t.settings.audit
  const words: Record<string, string> = actions
  return [words[action] ?? action, ...(count > 1 ? [times({ count })] : [])].join(' ')
}

/** Resources to filter by: the part of an action before the dot. */
export const resourceTexts = (): { value: string; label: string }[] =>
  Object.entries(t.settings.audit.resources).map(([value, label]) => ({ value, label }))
