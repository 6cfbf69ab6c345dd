import { type Label, useLabelsById } from '../../data/labels.ts'
import { t } from '../../text/index.ts'
import { LabelChip, LabelDot } from '../../ui/LabelDot.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import visuallyHidden from '../../ui/visually-hidden.module.css'
import styles from './ConversationLabels.module.css'

type Labels = ReadonlyMap<string, Label>

/** Returns the labels ordered by name, as in pickers; drops deleted ones. */
const labelsOf = (ids: readonly string[], labels: Labels): Label[] =>
  [...labels.values()].filter(({ id }) => ids.includes(id))

/** Returns the labels of a conversation with full names; none if it has no labels. */
export function useConversationLabels(ids: readonly string[]): readonly Label[] {
  return labelsOf(ids, useLabelsById(useWorkspaceId()))
}

export function LabelList({ labels }: { labels: readonly Label[] }) {
  return (
    <ul className={styles.list} aria-label={t.inbox.labels}>
      {labels.map(({ id, name, color }) => (
        <li key={id}>
          <LabelChip name={name} color={color} />
        </li>
      ))}
    </ul>
  )
}

const maxInRow = 2

/** Labels in a row of the list: the first by name, others as a number; all in the tooltip and accessible name. */
export function RowLabels({ labelIds, labels }: { labelIds: readonly string[]; labels: Labels }) {
  const known = labelsOf(labelIds, labels)
  if (known.length === 0) return null
  const names = known.map(({ name }) => name).join(', ')
  const more = known.length - maxInRow
  return (
    <span className={styles.row} title={names}>
      <span className={visuallyHidden.hidden}>
        {t.inbox.labels}: {names}
      </span>
      {known.slice(0, maxInRow).map(({ id, name, color }) => (
        <span key={id} className={styles.small} aria-hidden="true">
          <LabelDot color={color} />
          <span>{name}</span>
        </span>
      ))}
      {more > 0 && <span aria-hidden="true">+{more}</span>}
    </span>
  )
}
