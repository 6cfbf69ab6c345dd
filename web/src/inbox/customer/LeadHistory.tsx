import { useHistory } from '../../data/leads.ts'
import { usePeople } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { statusName } from '../../ui/format/lead-texts.ts'
import { formatDateTime, timeAgo } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './Customer.module.css'
import { Section } from './Section.tsx'

/** Timeline of the lead, newest first. */
export function LeadHistory({ leadId }: { leadId: string }) {
  const workspaceId = useWorkspaceId()
  const { data: history } = useHistory(workspaceId, leadId)
  const people = usePeople(workspaceId)
  if (history === undefined) return null
  const nameOf = ({ type, id }: { type: string; id: string | null }): string =>
    type === 'system' ? t.customer.bySystem : (people.nameOf(id) ?? t.common.unknown)
  return (
    <Section title={t.customer.history}>
      {history.length === 0 && <p className={styles.muted}>{t.customer.noHistory}</p>}
      <ol className={styles.list}>
        {history.toReversed().map(({ id, from, to, actor, at }) => (
          <li key={id}>
            {t.customer.step({ from: statusName(from), to: statusName(to) })}
            <div className={styles.meta} title={formatDateTime(at)}>
              {nameOf(actor)} · {timeAgo(at)}
            </div>
          </li>
        ))}
      </ol>
    </Section>
  )
}
