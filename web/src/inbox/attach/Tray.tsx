import { CloseButton } from '@mantine/core'
import { t } from '../../text/index.ts'
import { formatFileSize } from '../../ui/format/size.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { type Attachment, type Attachments, captionTarget, unsentAttachments } from './attachment.ts'
import styles from './Tray.module.css'
import { TrayRow } from './TrayRow.tsx'
import { changeAttachments, setRejected } from './tray.ts'
import { type RejectedFile, useTray } from './tray-store.ts'

interface TrayProps {
  conversationId: string
  captionLength: number
  /** Reorders or removes files; captions stay with their files. */
  arrange(change: (before: Attachments) => Attachments): void
  retry(one: Attachment): void
}

/** Files to be sent and files being sent, with their progress and actions. */
export default function Tray({ conversationId, captionLength, arrange, retry }: TrayProps) {
  const workspaceId = useWorkspaceId()
  const { attachments, rejected } = useTray(workspaceId, conversationId)
  const waiting = unsentAttachments(attachments)
  const lead = captionTarget(attachments)
  return (
    <>
      {rejected.length > 0 && (
        <div className={styles.refused} role="alert">
          <div>
            {rejected.map((one, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: several files may have the same name
              <p key={n}>{rejectionText(one)}</p>
            ))}
          </div>
          <CloseButton
            size="sm"
            c="inherit"
            aria-label={t.common.close}
            onClick={() => setRejected(workspaceId, conversationId, [])}
          />
        </div>
      )}
      {attachments.length > 0 && (
        <section className={styles.tray} aria-label={t.files.files}>
          <ul className={styles.rows}>
            {attachments.map((one, n) => (
              <TrayRow
                key={one.id}
                attachment={one}
                isBehind={n > 0 && one.submitted !== null}
                hasCaption={waiting.length > 1 && one.submitted === null && one.id !== lead?.id}
                captionLength={captionLength}
                change={(change) => changeAttachments(workspaceId, conversationId, change)}
                arrange={arrange}
                retry={() => retry(one)}
                isFirst={one.id === waiting[0]?.id}
                isLast={one.id === waiting.at(-1)?.id}
              />
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function rejectionText({ name, reason, limit }: RejectedFile): string {
  const { refused } = t.files
  if (reason === 'size') return refused.size({ name, most: formatFileSize(limit) })
  return reason === 'many' ? refused.many({ name, most: formatNumber(limit) }) : refused[reason]({ name })
}
