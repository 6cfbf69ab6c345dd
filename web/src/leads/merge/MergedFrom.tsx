import { Button } from '@mantine/core'
import { type LeadMerge, useMerges } from '../../data/merges.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { ago, fullMoment } from '../../ui/format/time.ts'
import { ErrorNotice } from '../../ui/page/ErrorNotice.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { phoneWords } from '../fields/lead.ts'
import styles from './merge.module.css'
import { useSayUndone } from './use-say-merged.ts'

/** Which leads were merged into this one, each with its undo, and what it is found by since; nothing when none was. */
export function MergedFrom({ leadId, people }: { leadId: string; people: People }) {
  const workspaceId = useWorkspaceId()
  const { data, error, refetch } = useMerges(workspaceId, leadId)
  if (error !== null) return <ErrorNotice error={error} retry={() => void refetch()} />
  if (data === undefined || data.merges.length === 0) return null
  const contacts = [...data.otherPhones.map(phoneWords), ...data.otherEmails]
  return (
    <section aria-label={t.merge.from}>
      <h3 className={styles.heading}>{t.merge.from}</h3>
      <ul className={styles.merges}>
        {data.merges.map((merge) => (
          <Merge key={merge.id} merge={merge} people={people} />
        ))}
      </ul>
      {contacts.length > 0 && (
        <p className={styles.quiet}>
          {t.merge.foundBy}: {contacts.join(', ')}
        </p>
      )}
    </section>
  )
}

function Merge({ merge, people }: { merge: LeadMerge; people: People }) {
  const { id, otherName, mergedBy, mergedAt, undoUntil } = merge
  const undo = useSayUndone(useWorkspaceId())
  const name = people.nameOf(mergedBy.id) ?? t.leads.actors[mergedBy.type]
  return (
    <li>
      <span>
        {otherName === null ? t.merge.fromSomebody : t.merge.fromName(otherName)}
        <span className={styles.quiet} title={fullMoment(mergedAt)}>
          {t.merge.by(name, ago(mergedAt))}
        </span>
      </span>
      {undoUntil !== null && (
        <Button
          variant="default"
          size="compact-sm"
          loading={undo.isRunning}
          title={t.merge.until(fullMoment(undoUntil))}
          onClick={() => undo.run(id, otherName ?? t.merge.other)}
        >
          {t.common.undo}
        </Button>
      )}
    </li>
  )
}
