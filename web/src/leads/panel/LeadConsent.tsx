import { useQueryClient } from '@tanstack/react-query'
import { type Consent, type ConsentPurpose, setLeadConsent, useLeadConsent } from '../../data/lead/consents.ts'
import type { Lead } from '../../data/leads.ts'
import { MarketingConsent } from '../../shared/MarketingConsent.tsx'
import { t } from '../../text/index.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './LeadPanel.module.css'

/** What the person has decided about messages; nothing without a phone, to which they would be sent. */
export function LeadConsent({ lead: { id, phone } }: { lead: Lead }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const { data } = useLeadConsent(workspaceId, id, phone)
  if (phone === null || data === undefined) return null
  const partOf = (purpose: ConsentPurpose, title: string, consent: Consent | null) => (
    <section aria-label={title}>
      <h3 className={styles.heading}>{title}</h3>
      <MarketingConsent
        purpose={purpose}
        consent={consent}
        set={(decision) => setLeadConsent(queries, workspaceId, id, decision, purpose)}
        undo={() => void setLeadConsent(queries, workspaceId, id, 'undo', purpose)}
      />
    </section>
  )
  return (
    <>
      {partOf('marketing', t.consent.title, data.current)}
      {partOf('utility', t.consent.updates.title, data.utility)}
    </>
  )
}
