import { CloseButton } from '@mantine/core'
import { t } from '../../text/index.ts'
import styles from './QuoteBar.module.css'
import { setQuotedMessage, useQuotedMessage } from './quoted-message.ts'

/** Quoted message above the field. */
export default function QuoteBar({ conversationId, name }: { conversationId: string; name: string }) {
  const message = useQuotedMessage(conversationId)
  if (message === null) return null
  const texts = t.files.quote
  return (
    <div className={styles.bar} role="status">
      <span className={styles.label}>
        <span className={styles.who}>
          {message.direction === 'inbound' ? texts.answering({ name }) : texts.answeringSelf}
        </span>
        <span className={styles.text} dir="auto">
          {message.text.slice(0, 300) || t.inbox.kinds[message.kind]}
        </span>
      </span>
      <CloseButton size="sm" aria-label={texts.remove} onClick={() => setQuotedMessage(conversationId, null)} />
    </div>
  )
}
