import { useMemo } from 'react'
import { LeadSequences } from '../../shared/sequences/LeadSequences.tsx'
import { TaskList } from '../../shared/tasks/TaskList.tsx'
import { t } from '../../text/index.ts'
import styles from './LeadPanel.module.css'

/** Open tasks about the lead. */
export function LeadTasks({ leadId }: { leadId: string }) {
  const about = useMemo(() => ({ leadId }), [leadId])
  return (
    <section aria-label={t.tasks.title}>
      <h3 className={styles.heading}>{t.tasks.title}</h3>
      <TaskList about={about} />
    </section>
  )
}

/** In which sequences the lead is. */
export function SequencesOfLead({ leadId }: { leadId: string }) {
  return (
    <LeadSequences
      leadId={leadId}
      section={(content) => (
        <section aria-label={t.sequences.title}>
          <h3 className={styles.heading}>{t.sequences.title}</h3>
          {content}
        </section>
      )}
    />
  )
}
