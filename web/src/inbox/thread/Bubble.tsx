import { IconArrowForwardUp, IconPaperclip } from '@tabler/icons-react'
import { memo } from 'react'
import { sendReply } from '../../data/inbox/outbox.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Message } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { fullMoment } from '../../ui/format/time.ts'
import { complain } from '../../ui/overlay/notices.tsx'
import { MediaPart } from '../media/MediaPart.tsx'
import { hasPictureRoom } from '../media/media-rules.ts'
import { AdCard } from '../parts/AdCard.tsx'
import { Tick } from '../parts/Tick.tsx'
import { failureReason } from '../parts/words.ts'
import { ContactCards, PlaceCard, Quote } from './Carried.tsx'
import { MessageActions } from './MessageActions.tsx'
import { MessageText } from './MessageText.tsx'
import { Reactions } from './Reactions.tsx'
import { Revision } from './Revision.tsx'
import styles from './Thread.module.css'

interface BubbleProps {
  conversationId: string
  message: Message
  hasTick: boolean
}

/** One message: what it answers to, its file, its words, what was felt about it, and how far it got. */
export function Bubble({ conversationId, message, hasTick }: BubbleProps) {
  const { id, author, media, occurredAt, reactions, referral, status, withdrawnAt } = message
  // Of what was taken back with nothing kept, only that it was.
  const isBare = media?.kind === 'sticker' && media.state === 'here' && withdrawnAt === null
  const isPicture = media !== null && hasPictureRoom(media) && !isBare && withdrawnAt === null
  return (
    <>
      {referral !== null && <AdCard referral={referral} />}
      <div className={styles.row} id={`message-${id}`} tabIndex={-1}>
        <div
          className={styles.bubble}
          data-by={author.type}
          data-failed={status === 'failed' || undefined}
          data-look={isBare ? 'bare' : isPicture ? 'picture' : undefined}
          data-withdrawn={withdrawnAt !== null || undefined}
          data-reacted={reactions.length > 0 || undefined}
          title={fullMoment(occurredAt)}
        >
          <Content message={message} />
          {hasTick && <Tick status={status} />}
          {reactions.length > 0 && <Reactions reactions={reactions} />}
        </div>
        <MessageActions conversationId={conversationId} message={message} />
      </div>
      {status === 'failed' && <Failed conversationId={conversationId} message={message} />}
    </>
  )
}

const Content = memo(function Content({ message }: { message: Message }) {
  const { id, direction, kind, text, media, place, cards, quoted, isForwarded, withdrawnAt, editedAt } = message
  const isElsewhere = media === null && place === null && cards.length === 0 && kind !== 'text' && kind !== 'template'
  const isEmptied = withdrawnAt !== null && text === ''
  return (
    <>
      {isForwarded && (
        <span className={styles.media}>
          <IconArrowForwardUp size={15} aria-hidden="true" />
          {t.media.forwarded}
        </span>
      )}
      {quoted !== null && <Quote quoted={quoted} />}
      {media !== null && withdrawnAt === null && <MediaPart messageId={id} direction={direction} media={media} />}
      {place !== null && <PlaceCard place={place} />}
      {cards.length > 0 && <ContactCards cards={cards} />}
      {isElsewhere && !isEmptied && (
        <span className={styles.media} title={t.inbox.mediaHelp}>
          <IconPaperclip size={15} aria-hidden="true" />
          {t.inbox.kinds[kind]}
        </span>
      )}
      {isEmptied && (
        <em className={styles.emptied}>
          {direction === 'inbound' ? t.media.withdrawnByCustomer : t.media.withdrawnByUs}
        </em>
      )}
      {hasOwnWords(message) && <MessageText text={text} />}
      {(editedAt !== null || (withdrawnAt !== null && !isEmptied) || message.former.length > 0) && (
        <Revision message={message} />
      )}
    </>
  )
})

// The text of a place or a card is made of what its card shows.
const hasOwnWords = ({ text, place, cards }: Message): boolean => text !== '' && place === null && cards.length === 0

/** Why, and a way on: the same words as a message of their own. */
function Failed({ conversationId, message: { kind, text, errorCode } }: Omit<BubbleProps, 'hasTick'>) {
  const inbox = useInbox()
  const again = () => sendReply(inbox, conversationId, { reply: { kind: 'text', text }, text }).catch(complain)
  return (
    <p className={styles.failed}>
      {failureReason(errorCode)}
      {kind === 'text' && (
        <button type="button" className={styles.again} onClick={() => void again()}>
          {t.inbox.sendAsNew}
        </button>
      )}
    </p>
  )
}
