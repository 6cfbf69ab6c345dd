import type { BulkChange, BulkChangeInput } from '../../data/bulk-changes.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { displayValue } from '../fields/lead.ts'

type ChangedField = keyof NonNullable<BulkChangeInput['changes']>
type ChangeSummary = Partial<Pick<BulkChange, 'changes' | 'sequenceId'>> & { labels?: BulkChangeInput['labels'] | null }
export type LabelNames = ReadonlyMap<string, { name: string }>

function labelText(
  { addLabelIds = [], removeLabelIds = [] }: NonNullable<BulkChangeInput['labels']>,
  known: LabelNames,
) {
  const namesOf = (ids: readonly string[]) => ids.map((id) => known.get(id)?.name ?? t.common.unknown).join(', ')
  const { labels } = t.views
  const texts = [
    addLabelIds.length > 0 && t.leads.bulk.becomes({ field: labels.add, value: namesOf(addLabelIds) }),
    removeLabelIds.length > 0 && t.leads.bulk.becomes({ field: labels.remove, value: namesOf(removeLabelIds) }),
  ]
  return texts.filter((words) => words !== false).join(', ')
}

/** Describes the change, such as `Priority: Urgent`, or the deletion. */
export function changeText({ changes, labels, sequenceId }: ChangeSummary, people: People, known: LabelNames): string {
  if (labels != null) return labelText(labels, known)
  if (sequenceId != null) return t.leads.bulk.sequence
  if (changes == null) return t.leads.bulk.deletes
  return (Object.entries(changes) as [ChangedField, string | null][])
    .map(([field, value]) =>
      t.leads.bulk.becomes({
        field: t.leads.fields[field],
        value: value === null ? t.leads.nobody : displayValue(field, value, people),
      }),
    )
    .join(', ')
}

/** Describes the progress or result. */
export function bulkStatusText({ state, kind, total, changed, unchanged, failed, undone, kept }: BulkChange): string {
  const { bulk } = t.leads
  if (state === 'collecting') return bulk.collecting({ n: formatNumber(total) })
  if (state === 'running')
    return bulk.running({ done: formatNumber(changed + unchanged + failed), all: formatNumber(total) })
  if (state === 'undoing') return bulk.undoing({ done: formatNumber(undone + kept), all: formatNumber(changed) })
  const texts =
    state === 'undone'
      ? [
          bulk.undone({ leads: t.leads.count({ n: undone }) }),
          kept > 0 && bulk.kept({ leads: t.leads.count({ n: kept }) }),
        ]
      : [
          state === 'cancelled' && bulk.cancelled,
          state === 'failed' && bulk.stopped,
          kind === 'delete'
            ? bulk.deleted({ leads: t.leads.count({ n: changed }) })
            : bulk.done({ leads: t.leads.count({ n: changed }) }),
          unchanged > 0 && bulk.unchanged({ leads: t.leads.count({ n: unchanged }) }),
          failed > 0 && bulk.failed({ leads: t.leads.count({ n: failed }) }),
        ]
  return texts.filter((words) => words !== false).join(' ')
}

/** Returns the progress from 0 to 100. */
export function percentOf({ state, total, changed, unchanged, failed, undone, kept }: BulkChange): number {
  const [done, all] = state === 'undoing' ? [undone + kept, changed] : [changed + unchanged + failed, total]
  return all === 0 ? 0 : Math.min(100, Math.floor((100 * done) / all))
}

export const isInProgress = ({ state }: BulkChange): boolean =>
  state === 'collecting' || state === 'running' || state === 'undoing'
