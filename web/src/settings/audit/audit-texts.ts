import type { PeopleLists } from '../../data/people.ts'
import type { AuditEntry } from '../../data/team/audit.ts'
import { t } from '../../text/index.ts'
import { formatNumber } from '../../ui/format/time.ts'

/** Names by id. */
export type Names = ReadonlyMap<string, string>

export interface Named {
  id: string
  name: string
}

export function namesOf({ members, keys, tokens }: PeopleLists, others: readonly Named[]): Names {
  return new Map([...members, ...keys, ...tokens, ...others].map(({ id, name }) => [id, name]))
}

/** Returns the name of the actor; for deleted ones, their type. */
export function actorText({ actor }: Pick<AuditEntry, 'actor'>, names: Names): string {
  const texts = t.settings.audit
  const name = actor.id === null ? undefined : names.get(actor.id)
  if (name !== undefined) return name
  switch (actor.type) {
    case 'user':
      return texts.former
    case 'token':
      return texts.operator
    case 'agent':
      return texts.agent
    case 'system':
      return texts.service
    default:
      return actor.type satisfies never
  }
}

/** Returns the target of the action: changed settings or a name; empty if only an id is known. */
export function subjectText({ action, target }: Pick<AuditEntry, 'action' | 'target'>, names: Names): string {
  if (target === null) return ''
  if (action === 'workspace.changed') {
    const names: Record<string, string> = t.settings.audit.fields
    return target
      .split(',')
      .filter((field) => field !== 'updated_at')
      .map((field) => names[field] ?? field)
      .join(', ')
  }
  const counts = countsText(target)
  if (counts !== '') return counts
  return names.get(target.slice(target.indexOf(':') + 1)) ?? ''
}

/** Returns the number of leads, if the target contains it: `bulk_change:… status leads:12 left:3`. */
function countsText(target: string): string {
  const [, before = '', leads] = /^(.*?)\bleads:(\d+)/.exec(target) ?? []
  if (leads === undefined) return ''
  const left = /\bleft:(\d+)/.exec(target)?.[1]
  const fields = before
    .split(' ')
    .flatMap((part) => part.split(','))
    .filter(isLeadField)
  return [
    ...fields.map((field) => t.leads.fields[field]),
    t.settings.audit.leads({ n: Number(leads) }),
    ...(left === undefined || left === '0' ? [] : [t.settings.audit.left({ shown: formatNumber(Number(left)) })]),
  ].join(', ')
}

type BulkField = 'status' | 'priority' | 'source' | 'assignedTo'
const isLeadField = (name: string): name is BulkField => ['status', 'priority', 'source', 'assignedTo'].includes(name)

/** Returns the action of an entry, and how many times. */
export function actionText({ action, count }: Pick<AuditEntry, 'action' | 'count'>): string {
  const { actions, times } = t.settings.audit
  const words: Record<string, string> = actions
  return [words[action] ?? action, ...(count > 1 ? [times({ count })] : [])].join(' ')
}

/** Resources to filter by: the part of an action before the dot. */
export const resourceTexts = (): { value: string; label: string }[] =>
  Object.entries(t.settings.audit.resources).map(([value, label]) => ({ value, label }))
