import { t } from '../../text/index.ts'
import type { Conversation } from '../types.ts'
import styles from './Composer.module.css'
import { RefusalLine } from './RefusalLine.tsx'
import type { Refusal } from './refusal.ts'
import type { Outgoing } from './send.ts'

interface ComposeLinesProps {
  workspaceId: string
  conversation: Conversation
  refusal: Refusal | null
  movedBy: string | null
  send(outgoing: Outgoing): void
}

/** What has to be said before more is written: why nothing was sent, or that somebody wrote meanwhile. */
export function ComposeLines({ workspaceId, conversation, refusal, movedBy, send }: ComposeLinesProps) {
  // Of a closed window the templates tell, which stand there then.
  const isTold = refusal?.reason === 'WINDOW_CLOSED'
  return (
    <>
      {refusal !== null && !isTold && (
        <RefusalLine workspaceId={workspaceId} conversation={conversation} refusal={refusal} send={send} />
      )}
      {refusal === null && movedBy !== null && (
        <div className={styles.line} data-tone="attention" role="status">
          {t.compose.movedWhileWriting(movedBy || conversation.contact.name || t.common.unknown)}
        </div>
      )}
    </>
  )
}
