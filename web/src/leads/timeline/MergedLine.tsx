import { Button } from '@mantine/core'
import type { TimelineEntry } from '../../data/lead/timeline.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { ago, fullMoment } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { FieldWords } from '../fields/field-columns.ts'
import { useSayUndone } from '../merge/use-say-merged.ts'
import { actorName, changeWords } from './entry-words.ts'
import styles from './Timeline.module.css'

interface MergedLineProps {
  entry: TimelineEntry
  people: People
  words: FieldWords
}

/** Who was merged into the lead and what it got; its undo, or who has undone it. */
export function MergedLine({ entry: { id, changes, merge }, people, words }: MergedLineProps) {
  if (merge === null) return null
  const { otherName, undoUntil, undone } = merge
  return (
    <>
      <span dir="auto">{otherName === null ? t.merge.fromSomebody : t.merge.fromName({ name: otherName })}</span>
      {changes.map((change) => (
        <span key={change.field} className={styles.change} dir="auto">
          {changeWords(change, people, words)}
        </span>
      ))}
      {undone !== null && (
        <span className={styles.quiet} title={fullMoment(undone.at)}>
          {undone.actor === null
            ? t.merge.wasUndone({ when: ago(undone.at) })
            : t.merge.undoneBy({ who: actorName(undone.actor, people), when: ago(undone.at) })}
        </span>
      )}
      {undoUntil !== null && <UndoButton id={id} otherName={otherName} until={undoUntil} />}
    </>
  )
}

function UndoButton({ id, otherName, until }: { id: string; otherName: string | null; until: string }) {
  const undo = useSayUndone(useWorkspaceId())
  return (
    <Button
      variant="default"
      size="compact-sm"
      my={4}
      loading={undo.isRunning}
      title={t.merge.until({ when: fullMoment(until) })}
      onClick={() => undo.run(id, otherName ?? t.merge.other)}
    >
      {t.merge.undo}
    </Button>
  )
}
