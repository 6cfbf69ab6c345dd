import { useMerges } from '../../data/merges.ts'
import { t } from '../../text/index.ts'
import { shownPhone } from '../../ui/format/phone.ts'
import { ErrorNotice } from '../../ui/page/ErrorNotice.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './merge.module.css'

/** The phones and e-mails that a lead has by merges beside those that it shows; nothing when it has none. */
export function AlsoFoundBy({ leadId }: { leadId: string }) {
  const { data, error, refetch } = useMerges(useWorkspaceId(), leadId)
  if (error !== null) return <ErrorNotice error={error} retry={() => void refetch()} />
  const contacts = data === undefined ? [] : [...data.otherPhones.map(shownPhone), ...data.otherEmails]
  if (contacts.length === 0) return null
  return (
    <p className={styles.quiet}>
      {t.merge.foundBy}: {contacts.join(', ')}
    </p>
  )
}
