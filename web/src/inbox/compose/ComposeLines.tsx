import type { Conversation } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import styles from './Composer.module.css'
import type { Outgoing } from './kept-sends.ts'
import { ObstacleLine } from './ObstacleLine.tsx'
import type { Obstacle } from './obstacle.ts'
import { RefusalLine } from './RefusalLine.tsx'
import { isOfStanding, type Refusal } from './refusal.ts'

interface ComposeLinesProps {
  workspaceId: string
  conversation: Conversation
  obstacle: Obstacle | null
  refusal: Refusal | null
  movedBy: string | null
  send(outgoing: Outgoing): void
}

/** What has to be said before more is written: why nothing was sent, or that somebody wrote meanwhile. */
export function ComposeLines(props: ComposeLinesProps) {
  const { workspaceId, conversation, obstacle, refusal, movedBy, send } = props
  // Of a closed window the templates tell, which stand there then, and of what is still in the way its own line.
  const isTold = refusal?.reason === 'WINDOW_CLOSED' || (obstacle !== null && isOfStanding(refusal))
  return (
    <>
      {obstacle !== null && <ObstacleLine workspaceId={workspaceId} conversation={conversation} obstacle={obstacle} />}
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
