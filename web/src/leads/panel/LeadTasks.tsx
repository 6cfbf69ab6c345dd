import { useMemo } from 'react'
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
