import { useQueryClient } from '@tanstack/react-query'
import { setLeadConsent, useLeadConsent } from '../../data/lead/consents.ts'
import type { Lead } from '../../data/leads.ts'
import { MarketingConsent } from '../../shared/MarketingConsent.tsx'
import { t } from '../../text/index.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './LeadPanel.module.css'

/** What the person has decided about marketing messages; nothing without a phone, to which they would be sent. */
export function LeadConsent({ lead: { id, phone } }: { lead: Lead }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const { data } = useLeadConsent(workspaceId, id, phone)
  if (phone === null || data === undefined) return null
  return (
    <section aria-label={t.consent.title}>
      <h3 className={styles.heading}>{t.consent.title}</h3>
      <MarketingConsent
        consent={data.current}
        set={(decision) => setLeadConsent(queries, workspaceId, id, decision)}
        undo={() => void setLeadConsent(queries, workspaceId, id, 'undo')}
      />
    </section>
  )
}
