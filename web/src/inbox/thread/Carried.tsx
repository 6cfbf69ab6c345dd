import { IconAddressBook, IconMapPin } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Failure } from '../../api/failure.ts'
import { leadOfCard } from '../../data/inbox/customer.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { ContactCard, Place, Quoted } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { complain, say } from '../../ui/overlay/notices.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { coordinates, mapAddress } from '../media/media-rules.ts'
import { useInThread } from '../parts/in-thread.ts'
import styles from './parts.module.css'

/** What a message carries beside its words and its file. */

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

/** A place as words and a link: no map is loaded, which would tell its maker whom we talk to. */
export function PlaceCard({ place: { latitude, longitude, name, address, isLive } }: { place: Place }) {
  return (
    <span className={styles.card}>
      <IconMapPin size={26} stroke={1.5} aria-hidden="true" />
      <span className={styles.cardWords}>
        <bdi className={styles.cardName}>{name ?? t.media.place}</bdi>
        {address !== null && <bdi>{address}</bdi>}
        <span className={styles.quiet}>{coordinates(latitude, longitude)}</span>
        {isLive && <span className={styles.quiet}>{t.media.live}</span>}
        <a
          href={mapAddress(latitude, longitude)}
          target="_blank"
          rel="noopener noreferrer nofollow"
          referrerPolicy="no-referrer"
        >
          {t.media.openMap}
        </a>
      </span>
    </span>
  )
}

export function ContactCards({ cards }: { cards: readonly ContactCard[] }) {
  return cards.map((card, n) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the cards of a message do not change
    <OneCard key={n} card={card} />
  ))
}

function OneCard({ card }: { card: ContactCard }) {
  const { name, organisation, phones, emails } = card
  return (
    <span className={styles.card}>
      <IconAddressBook size={26} stroke={1.5} aria-hidden="true" />
      <span className={styles.cardWords}>
        <bdi className={styles.cardName}>{name === '' ? t.media.card : name}</bdi>
        {organisation !== null && <bdi>{organisation}</bdi>}
        {phones.map(({ phone, label }) => (
          <span key={phone}>
            <bdi>{shown(phone)}</bdi> {label !== null && <bdi className={styles.quiet}>{label}</bdi>}
          </span>
        ))}
        {emails.map((email) => (
          <bdi key={email}>{email}</bdi>
        ))}
        <MakeLead card={card} />
      </span>
    </span>
  )
}

const shown = (phone: string): string => (/^[1-9]\d{6,14}$/.test(phone) ? `+${phone}` : phone)

/** Makes a lead of a card; a lead that is there already is found by its phone or e-mail. */
function MakeLead({ card }: { card: ContactCard }) {
  const inbox = useInbox()
  const workspaceId = useWorkspaceId()
  const [isMaking, setMaking] = useState(false)
  const [leadId, setLeadId] = useState<string | null>(null)
  const [isThere, setThere] = useState(false)
  const make = async () => {
    setMaking(true)
    try {
      const lead = await leadOfCard(inbox, card)
      setLeadId(lead.id)
      say(t.customer.created(lead.firstName))
    } catch (error) {
      if (error instanceof Failure && error.status === 409) setThere(true)
      else complain(error)
    } finally {
      setMaking(false)
    }
  }
  if (leadId !== null) {
    return (
      <Link to="/w/$workspaceId/leads" params={{ workspaceId }} search={{ lead: leadId }}>
        {t.media.openLead}
      </Link>
    )
  }
  if (isThere) return <span className={styles.quiet}>{t.media.isLead}</span>
  return (
    <button
      type="button"
      className={styles.link}
      disabled={isMaking}
      aria-label={t.media.makeLeadOf(card.name)}
      onClick={() => void make()}
    >
      {t.media.makeLead}
    </button>
  )
}
