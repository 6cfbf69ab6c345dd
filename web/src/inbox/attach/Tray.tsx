import { CloseButton } from '@mantine/core'
import { t } from '../../text/index.ts'
import { fileSize } from '../../ui/format/size.ts'
import { number } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { type Attachment, type Attachments, inTray, leadOf } from './attachment.ts'
import { type Refused, useTray } from './held-files.ts'
import styles from './Tray.module.css'
import { TrayRow } from './TrayRow.tsx'
import { changeAttachments, setRefused } from './tray.ts'

interface TrayProps {
  conversationId: string
  captionLength: number
  /** Puts the files in another order or takes one away: the captions stay with their files. */
  arrange(change: (before: Attachments) => Attachments): void
  /** Sends again what has failed. */
  retry(one: Attachment): void
}

/** What is to be sent with the text, and what is on its way: each with how far it is and what can be done about it. */
export default function Tray({ conversationId, captionLength, arrange, retry }: TrayProps) {
  const workspaceId = useWorkspaceId()
  const { attachments, refused } = useTray(workspaceId, conversationId)
  const waiting = inTray(attachments)
  const lead = leadOf(attachments)
  return (
    <>
      {refused.length > 0 && (
        <div className={styles.refused} role="alert">
          <div>
            {refused.map((one, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two files may have one name
              <p key={n}>{wordsOf(one)}</p>
            ))}
          </div>
          <CloseButton
            size="sm"
            c="inherit"
            aria-label={t.common.close}
            onClick={() => setRefused(workspaceId, conversationId, [])}
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
                isBehind={n > 0 && one.letGo !== null}
                hasCaption={waiting.length > 1 && one.letGo === null && one.id !== lead?.id}
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

function wordsOf({ name, reason, most }: Refused): string {
  const { refused } = t.files
  if (reason === 'size') return refused.size({ name, most: fileSize(most) })
  return reason === 'many' ? refused.many({ name, most: number(most) }) : refused[reason]({ name })
}
