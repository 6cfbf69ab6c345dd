import type { Conversation } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import styles from './start.module.css'

interface ExistingConversationProps {
  name: string
  /** With the chosen connection. */
  conversation: Conversation | null
  others: readonly Conversation[]
  open(conversationId: string): void
}

/** Says that a conversation exists, with this connection or others. */
export function ExistingConversation({ name, conversation, others, open }: ExistingConversationProps) {
  return (
    <>
      {conversation !== null && (
        <div className={styles.existing} role="status">
          <p>{t.start.exists({ name })}</p>
          <p>{t.start.existing[messageOptions(conversation, Date.now())]}</p>
        </div>
      )}
      {others.map(({ id, connectionName }) => (
        <button key={id} type="button" className={styles.elsewhere} onClick={() => open(id)}>
          {t.start.elsewhere({ connection: connectionName ?? t.common.unknown })}
        </button>
      ))}
    </>
  )
}

/** Returns what can be sent in a conversation at a time: text, a template, or nothing. */
function messageOptions({ windowExpiresAt, channel }: Conversation, nowMs: number): 'open' | 'closed' | 'silent' {
  if (windowExpiresAt !== null && Date.parse(windowExpiresAt) > nowMs) return 'open'
  return channel === 'unofficial' ? 'silent' : 'closed'
}
