import { IconArrowForwardUp, IconPaperclip } from '@tabler/icons-react'
import { memo, Suspense } from 'react'
import { sendReply } from '../../data/inbox/outbox.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Media, Message, Quoted } from '../../data/inbox/types.ts'
import { stripMarkup } from '../../shared/markup/markup.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { hasReservedSize, sizeInBubble } from '../media/media-rules.ts'
import { failureReason } from '../parts/inbox-texts.ts'
import { Tick } from '../parts/Tick.tsx'
import { useThreadContext } from '../parts/thread-context.ts'
import { MessageActions } from './MessageActions.tsx'
import { MessageText } from './MessageText.tsx'
import parts from './parts.module.css'
import { Reactions } from './Reactions.tsx'
import { Revision } from './Revision.tsx'
import styles from './Thread.module.css'

const AdCard = prefetchedComponent(() => import('../parts/AdCard.tsx'))
const MediaPart = prefetchedComponent(() => import('../media/MediaPart.tsx'))
const LocationAndContacts = prefetchedComponent(() => import('./LocationAndContacts.tsx'))
const InteractiveOptions = prefetchedComponent(() => import('../parts/InteractiveOptions.tsx'))
const PromptPart = prefetchedComponent(() => import('../parts/PromptPart.tsx'))
const Sources = prefetchedComponent(() => import('../knowledge/Sources.tsx'))

interface BubbleProps {
  conversationId: string
  message: Message
  hasTick: boolean
}

/** One message: quote, file, text, reactions and delivery status. */
export function Bubble({ conversationId, message, hasTick }: BubbleProps) {
  const { id, author, media, occurredAt, reactions, referral, sources, status, withdrawnAt } = message
  // A deleted message without kept content shows only that it was deleted.
  const isBare = media?.kind === 'sticker' && media.state === 'here' && withdrawnAt === null
  const isPicture = !isBare && withdrawnAt === null && media !== null && isDrawn(media)
  return (
    <>
      {referral !== null && (
        <Suspense>
          <AdCard referral={referral} />
        </Suspense>
      )}
      <div className={styles.row} id={`message-${id}`} tabIndex={-1}>
        <div
          className={styles.bubble}
          data-by={author.type}
          data-failed={status === 'failed' || undefined}
          data-look={isBare ? 'bare' : isPicture ? 'picture' : undefined}
          data-withdrawn={withdrawnAt !== null || undefined}
          data-reacted={reactions.length > 0 || undefined}
          title={formatDateTime(occurredAt)}
        >
          <Content message={message} />
          {hasTick && <Tick status={status} />}
          {reactions.length > 0 && <Reactions reactions={reactions} />}
        </div>
        <MessageActions conversationId={conversationId} message={message} />
      </div>
      {sources.length > 0 && (
        <Suspense>
          <Sources sources={sources} />
        </Suspense>
      )}
      {status === 'failed' && <Failed conversationId={conversationId} message={message} />}
    </>
  )
}

// Files that failed are shown as text.
const isDrawn = (media: Media): boolean =>
  hasReservedSize(media) && (media.state === 'coming' || (media.state === 'here' && media.isInline))

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
      {media !== null && withdrawnAt === null && (
        <Suspense fallback={<MediaPlaceholder media={media} />}>
          <MediaPart messageId={id} direction={direction} media={media} />
        </Suspense>
      )}
      {(place !== null || cards.length > 0) && (
        <Suspense>
          <LocationAndContacts place={place} cards={cards} />
        </Suspense>
      )}
      {isElsewhere && !isEmptied && (
        <span className={styles.media} title={t.inbox.mediaHelp}>
          <IconPaperclip size={15} aria-hidden="true" />
          {t.inbox.kinds[kind]}
        </span>
      )}
      {isEmptied && (
        <em className={styles.emptyNotice}>
          {direction === 'inbound' ? t.media.withdrawnByCustomer : t.media.withdrawnByUs}
        </em>
      )}
      {hasText(message) && <MessageText text={text} />}
      {withdrawnAt === null && <Interactive message={message} />}
      {(editedAt !== null || (withdrawnAt !== null && !isEmptied) || message.former.length > 0) && (
        <Revision message={message} />
      )}
    </>
  )
})

function Interactive({ message: { choices, prompt } }: { message: Message }) {
  if (choices === null && prompt === null) return null
  return (
    <Suspense>
      {choices !== null && <InteractiveOptions choices={choices} />}
      {prompt !== null && <PromptPart prompt={prompt} />}
    </Suspense>
  )
}

// The text of a location or contact repeats its card; that of a file without a caption is the file name.
const hasText = ({ text, media, place, cards }: Message): boolean =>
  text !== '' && text !== media?.name && place === null && cards.length === 0

/** Reserves the size of a file until it is rendered. */
function MediaPlaceholder({ media }: { media: Media }) {
  const { width, height } = hasReservedSize(media) ? sizeInBubble(media) : fileSize
  return <span className={styles.room} style={{ width, aspectRatio: `${width} / ${height}` }} />
}

const fileSize = { width: 300, height: 50 }

/** The quoted message, which scrolls to it. */
function Quote({ quoted }: { quoted: Quoted }) {
  const { customerName, showMessage } = useThreadContext()
  const { messageId, direction, text, mediaKind } = quoted
  const who = direction === null ? null : direction === 'inbound' ? customerName : t.media.ourTeam
  const kind = mediaKind === null ? null : t.media.kinds[mediaKind]
  const words = text === null || text === '' ? kind : stripMarkup(text)
  const inside = (
    <>
      {who !== null && <bdi className={parts.quoteBy}>{who}</bdi>}
      <span className={parts.quoteText} dir="auto">
        {words ?? t.media.quotedUnknown}
      </span>
    </>
  )
  if (messageId === null) return <span className={parts.quote}>{inside}</span>
  return (
    <button type="button" className={parts.quote} title={t.media.showQuoted} onClick={() => showMessage(messageId)}>
      <span className={parts.visuallyHidden}>{t.media.showQuoted}: </span>
      {inside}
    </button>
  )
}

/** The reason of a failure, and a button to send the text again. */
function Failed({ conversationId, message: { kind, text, errorCode } }: Omit<BubbleProps, 'hasTick'>) {
  const inbox = useInbox()
  const again = () => sendReply(inbox, conversationId, { reply: { kind: 'text', text }, text }).catch(showError)
  return (
    <p className={styles.failed}>
      {failureReason(errorCode)}
      {kind === 'text' && (
        <button type="button" className={styles.retry} onClick={() => void again()}>
          {t.inbox.sendAsNew}
        </button>
      )}
    </p>
  )
}
