import { useMerges } from '../../data/merges.ts'
import { t } from '../../text/index.ts'
import { formatPhone } from '../../ui/format/phone.ts'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './merge.module.css'

/** Additional phones and e-mails of a lead from merges; renders nothing without any. */
export function AlsoFoundBy({ leadId }: { leadId: string }) {
  const { data, error, refetch } = useMerges(useWorkspaceId(), leadId)
  if (error !== null) return <ErrorState error={error} retry={() => void refetch()} />
  const contacts = data === undefined ? [] : [...data.otherPhones.map(formatPhone), ...data.otherEmails]
  if (contacts.length === 0) return null
  return (
    <p className={styles.muted}>
      {t.merge.foundBy}: {contacts.join(', ')}
    </p>
  )
}
