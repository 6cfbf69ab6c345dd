import { IconArrowBackUp, IconArrowForwardUp, IconMoodSmile, IconPaperclip } from '@tabler/icons-react'
import { memo, Suspense, useState } from 'react'
import { sendReply } from '../../data/inbox/outbox.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Media, Message, Quoted, Reaction } from '../../data/inbox/types.ts'
import { stripMarkup } from '../../shared/markup/markup.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { hasReservedSize, sizeInBubble } from '../media/media-rules.ts'
import { failureReason } from '../parts/inbox-texts.ts'
import { Tick } from '../parts/Tick.tsx'
import { useThreadContext } from '../parts/thread-context.ts'
import { setQuotedMessage } from '../quote/quoted-message.ts'
import { setReactionTarget } from '../quote/reaction-target.ts'
import actionStyles from './MessageActions.module.css'
import { MessageText } from './MessageText.tsx'
import parts from './parts.module.css'
import styles from './Thread.module.css'

const AdCard = prefetchedComponent(() => import('../parts/AdCard.tsx'))
const MediaPart = prefetchedComponent(() => import('../media/MediaPart.tsx'))
const LocationAndContacts = prefetchedComponent(() => import('./LocationAndContacts.tsx'))
const InteractiveOptions = prefetchedComponent(() => import('../parts/InteractiveOptions.tsx'))
const PromptPart = prefetchedComponent(() => import('../parts/PromptPart.tsx'))
const ReactionList = prefetchedComponent(() => import('./ReactionList.tsx'))
const PreviousVersions = prefetchedComponent(() => import('./PreviousVersions.tsx'))
const Sources = prefetchedComponent(() => import('../knowledge/Sources.tsx'))

/** One message: quote, file, text, reactions and delivery status. */
export function Bubble({ message, hasTick }: { message: Message; hasTick: boolean }) {
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
        <MessageActions message={message} />
      </div>
      {sources.length > 0 && (
        <Suspense>
          <Sources sources={sources} />
        </Suspense>
      )}
      {status === 'failed' && <Failed message={message} />}
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
function Failed({ message: { kind, text, errorCode } }: { message: Message }) {
  const inbox = useInbox()
  const { conversationId } = useThreadContext()
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

/** Buttons beside a message to quote it or react to it. Hidden if the channel does not support it. */
function MessageActions({ message }: { message: Message }) {
  const { conversationId } = useThreadContext()
  const { id, kind, status, withdrawnAt } = message
  // The platform has no message with this id, or no longer.
  if (kind === 'system' || status === 'pending' || status === 'failed' || withdrawnAt !== null) return null
  const texts = t.attach
  return (
    <span className={actionStyles.actions} data-message-id={id}>
      <button
        type="button"
        className={actionStyles.react}
        aria-haspopup="dialog"
        aria-label={texts.react}
        title={texts.react}
        onClick={({ currentTarget: button }) => setReactionTarget({ conversationId, message, button })}
      >
        <IconMoodSmile size={17} />
      </button>
      <button
        type="button"
        className={actionStyles.quote}
        aria-label={texts.reply}
        title={texts.reply}
        onClick={() => setQuotedMessage(conversationId, message)}
      >
        <IconArrowBackUp size={17} />
      </button>
    </span>
  )
}

/** Reactions to a message, at the edge of its bubble; a click shows whose. */
function Reactions({ reactions }: { reactions: readonly Reaction[] }) {
  const { customerName } = useThreadContext()
  const [isOpen, setOpen] = useState(false)
  const dropdown = useDropdown(isOpen, setOpen)
  const emojis = [...new Set(reactions.map(({ emoji }) => emoji))]
  const list = reactions
    .map(({ emoji, direction }) => `${emoji} ${direction === 'inbound' ? customerName : t.media.ourTeam}`)
    .join(', ')
  return (
    <>
      <button
        type="button"
        className={parts.reactions}
        aria-label={t.media.reactions({ list })}
        {...dropdownButtonProps(dropdown, 'dialog')}
      >
        <span aria-hidden="true">{emojis.join(' ')}</span>
        {reactions.length > 1 && <span className={parts.reactionCount}>{reactions.length}</span>}
      </button>
      <DropdownContent dropdown={dropdown}>
        <ReactionList dropdown={dropdown} reactions={reactions} />
      </DropdownContent>
    </>
  )
}

/** Marks an edited or deleted message; a click shows the previous version. */
function Revision({ message: { text, editedAt, withdrawnAt, former } }: { message: Message }) {
  const [isOpen, setOpen] = useState(false)
  const dropdown = useDropdown(isOpen, setOpen)
  const at = withdrawnAt ?? editedAt
  if (at === null) return null
  const isEmptied = withdrawnAt !== null && text === ''
  const word = isEmptied ? t.media.former : withdrawnAt === null ? t.media.edited : t.media.withdrawn
  if (former.length === 0) {
    return (
      <span className={parts.revision} title={formatDateTime(at)}>
        {word}
      </span>
    )
  }
  return (
    <>
      <button
        type="button"
        className={parts.revision}
        title={t.media.former}
        aria-label={isEmptied ? word : `${word}: ${t.media.former}`}
        {...dropdownButtonProps(dropdown, 'dialog')}
      >
        {word}
      </button>
      <DropdownContent dropdown={dropdown}>
        <PreviousVersions dropdown={dropdown} former={former} />
      </DropdownContent>
    </>
  )
}
