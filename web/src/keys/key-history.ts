import type { AuditEntry } from '../data/team/audit.ts'
import type { Version } from '../data/team/instructions.ts'
import { t } from '../text/index.ts'
import { formatNumber } from '../ui/format/time.ts'

/** Something that changed what an agent works under. */
export interface Change {
  id: string
  at: string
  actor: { type: string; id: string | null } | null
  what: string
  /** One line for each setting. */
  details: string[]
}

type NameOf = (id: string) => string

/** Merges the changes of a key with the versions of the instructions that concern it, newest first. */
export function mergeChanges(
  entries: readonly AuditEntry[],
  versions: readonly { of: string; list: readonly Version[] }[],
  nameOf: NameOf,
): Change[] {
  const ofKey = entries
    // Publications are among the versions, with their scope.
    .filter(({ action }) => action.startsWith('api-key.'))
    .map(({ id, at, actor, action, details }) => {
      const actions: Record<string, string> = t.settings.audit.actions
      const what = actions[action] ?? action
      return { id, at, actor, what: capital(what), details: detailsOf(details, nameOf) }
    })
  const published = versions.flatMap(({ of, list }) =>
    list.map(({ id, publishedAt, actor, version, note }) => ({
      id,
      at: publishedAt,
      actor,
      what: t.instructions.publishedFor({ n: formatNumber(version), who: of }),
      details: note === null ? [] : [note],
    })),
  )
  return [...ofKey, ...published].sort((a, b) => (a.at < b.at ? 1 : -1))
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

function detailsOf(details: object | null, nameOf: NameOf): string[] {
  return Object.entries(details ?? {}).flatMap(([setting, change]) => {
    const names: Record<string, string> = t.keys.settingNames
    const { before, after } = change as { before: unknown; after: unknown }
    const values = { before: valueText(setting, before, nameOf), after: valueText(setting, after, nameOf) }
    return t.keys.changed({ setting: names[setting] ?? setting, ...values })
  })
}

function valueText(setting: string, value: unknown, nameOf: NameOf): string {
  if (value === null) return setting === 'approval' ? t.keys.approvalNone : t.keys.byDefault
  if (typeof value === 'boolean') return value ? t.common.yes : t.common.no
  if (Array.isArray(value)) return listText(setting, value.map(String), nameOf)
  if (setting === 'approval')
    return (value as { always?: unknown }).always === true ? t.keys.approvalAlways : t.keys.approvalSome
  return String(value)
}

function listText(setting: string, list: readonly string[], nameOf: NameOf): string {
  if (list.length === 0) return setting === 'connectionIds' ? t.common.all : t.common.none
  const scopes: Record<string, string> = t.keys.scopes
  if (setting === 'scopes') return list.map((one) => scopes[one] ?? one).join(', ')
  return list.map((one) => (setting === 'connectionIds' ? nameOf(one) : one)).join(', ')
}
