import { Button } from '@mantine/core'
import type { TimelineEntry } from '../../data/lead/timeline.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, timeAgo } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { FieldFormat } from '../fields/field-columns.ts'
import { useUndoMergeWithToast } from '../merge/use-merged-toast.ts'
import { actorName, changeText } from './entry-texts.ts'
import styles from './Timeline.module.css'

interface MergedLineProps {
  entry: TimelineEntry
  people: People
  fieldFormat: FieldFormat
}

/** A merge in the timeline: what was merged and moved, with undo or who undid it. */
export function MergedLine({ entry: { id, changes, merge }, people, fieldFormat }: MergedLineProps) {
  if (merge === null) return null
  const { otherName, undoUntil, undone } = merge
  return (
    <>
      <span dir="auto">{otherName === null ? t.merge.fromUnknown : t.merge.fromName({ name: otherName })}</span>
      {changes.map((change) => (
        <span key={change.field} className={styles.change} dir="auto">
          {changeText(change, people, fieldFormat)}
        </span>
      ))}
      {undone !== null && (
        <span className={styles.muted} title={formatDateTime(undone.at)}>
          {undone.actor === null
            ? t.merge.wasUndone({ when: timeAgo(undone.at) })
            : t.merge.undoneBy({ who: actorName(undone.actor, people), when: timeAgo(undone.at) })}
        </span>
      )}
      {undoUntil !== null && <UndoButton id={id} otherName={otherName} until={undoUntil} />}
    </>
  )
}

function UndoButton({ id, otherName, until }: { id: string; otherName: string | null; until: string }) {
  const undo = useUndoMergeWithToast(useWorkspaceId())
  return (
    <Button
      variant="default"
      size="compact-sm"
      my={4}
      loading={undo.isRunning}
      title={t.merge.until({ when: formatDateTime(until) })}
      onClick={() => undo.run(id, otherName ?? t.merge.other)}
    >
      {t.merge.undo}
    </Button>
  )
}
