import type { Quoted } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { useInThread } from '../parts/in-thread.ts'
import styles from './parts.module.css'

/** What a message answers to, and the way there. */
export function Quote({ quoted }: { quoted: Quoted }) {
  const { customerName, showMessage } = useInThread()
  const { messageId, direction, text, mediaKind } = quoted
  const who = direction === null ? null : direction === 'inbound' ? customerName : t.media.us
  const kind = mediaKind === null ? null : t.media.kinds[mediaKind]
  const words = text === null || text === '' ? kind : text
  const inside = (
    <>
      {who !== null && <bdi className={styles.quoteBy}>{who}</bdi>}
      <span className={styles.quoteText} dir="auto">
        {words ?? t.media.quotedUnknown}
      </span>
    </>
  )
  if (messageId === null) return <span className={styles.quote}>{inside}</span>
  return (
    <button type="button" className={styles.quote} title={t.media.showQuoted} onClick={() => showMessage(messageId)}>
      <span className={styles.unseen}>{t.media.showQuoted}: </span>
      {inside}
    </button>
  )
}
