import { type Duplicate, type Lead, useDuplicates } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import { statusName } from '../../ui/format/lead-words.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { nameOf } from '../fields/lead.ts'
import styles from './LeadPanel.module.css'

interface DuplicatesProps {
  lead: Lead
  open(lead: Lead): void
}

export function Duplicates({ lead, open }: DuplicatesProps) {
  const workspaceId = useWorkspaceId()
  const { data = [] } = useDuplicates(workspaceId, lead)
  return <DuplicateList duplicates={data} open={open} />
}

/** A hint at who may be the same person; nothing when there is nobody. */
export function DuplicateList({ duplicates, open }: { duplicates: readonly Duplicate[]; open(lead: Lead): void }) {
  if (duplicates.length === 0) return null
  return (
    <section className={styles.hint} aria-label={t.leads.panel.duplicates}>
      <h3 className={styles.heading}>{t.leads.panel.duplicates}</h3>
      <ul>
        {duplicates.map(({ lead, same }) => (
          <li key={lead.id}>
            <button type="button" onClick={() => open(lead)}>
              {nameOf(lead)}
            </button>
            <span>
              {[
                statusName(lead.status),
                ...same.map((what) => (what === 'phone' ? t.leads.panel.samePhone : t.leads.panel.sameEmail)),
              ].join(' · ')}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
