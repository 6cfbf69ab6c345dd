import { type Lead, useHistory } from '../../data/leads.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { statusName } from '../../ui/format/lead-words.ts'
import { ago, fullMoment } from '../../ui/format/time.ts'
import { ErrorNotice } from '../../ui/page/ErrorNotice.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './LeadPanel.module.css'

interface StatusHistoryProps {
  lead: Lead
  people: People
}

/** Who took the lead from one status to the next, the newest first. */
export function StatusHistory({ lead, people }: StatusHistoryProps) {
  const workspaceId = useWorkspaceId()
  const { data, error, refetch } = useHistory(workspaceId, lead.id)
  return (
    <section>
      <h3 className={styles.heading}>{t.leads.panel.history}</h3>
      {error !== null && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data?.length === 0 && <p className={styles.quiet}>{t.leads.panel.historyEmpty}</p>}
      <ol className={styles.history}>
        {data?.toReversed().map(({ id, from, to, actor, at }) => {
          const name =
            actor.type === 'agent' || actor.type === 'user' || actor.type === 'token' ? people.nameOf(actor.id) : null
          return (
            <li key={id} data-agent={actor.type === 'agent' || undefined}>
              <span>{t.leads.panel.change(statusName(from), statusName(to))}</span>
              <span className={styles.quiet} title={fullMoment(at)}>
                {t.leads.panel.by(name ?? t.leads.actors[actor.type], ago(at))}
              </span>
            </li>
          )
        })}
      </ol>
    </section>
  )
}
