import type { ReactNode } from 'react'
import { type Duplicate, type Lead, useDuplicates } from '../../data/leads.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { statusName } from '../../ui/format/lead-texts.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { nameOf } from '../fields/lead.ts'
import { MergeButton } from '../merge/MergeButton.tsx'
import styles from './LeadPanel.module.css'

export function Duplicates({ lead, people, open }: { lead: Lead; people: People; open(lead: Lead): void }) {
  const workspaceId = useWorkspaceId()
  const { data = [] } = useDuplicates(workspaceId, lead)
  const mergeWith = ({ id }: Lead) => (
    <MergeButton
      lead={{ id: lead.id, name: nameOf(lead) }}
      otherId={id}
      people={people}
      onMerged={open}
      label={t.merge.short}
    />
  )
  return <DuplicateList duplicates={data} open={open} action={mergeWith} />
}

interface DuplicateListProps {
  duplicates: readonly Duplicate[]
  open(lead: Lead): void
  /** Action on one of them. */
  action?(lead: Lead): ReactNode
}

/** Possible duplicates; renders nothing without any. */
export function DuplicateList({ duplicates, open, action }: DuplicateListProps) {
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
            {action?.(lead)}
          </li>
        ))}
      </ul>
    </section>
  )
}
