import { IconAddressBook, IconMapPin } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { createLeadFromCard } from '../../data/inbox/customer.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { ContactCard, Message, Place } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { showToast } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { coordinates, mapAddress } from '../media/media-rules.ts'
import { useBusy } from '../parts/use-busy.ts'
import styles from './parts.module.css'

/** Location and contact cards of a message. */
export default function LocationAndContacts({ place, cards }: Pick<Message, 'place' | 'cards'>) {
  return (
    <>
      {place !== null && <LocationCard place={place} />}
      {cards.map((card, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the cards of a message do not change
        <ContactCardView key={n} card={card} />
      ))}
    </>
  )
}

/** Location as text and a link: loading a map would disclose our contacts to its provider. */
function LocationCard({ place: { latitude, longitude, name, address, isLive } }: { place: Place }) {
  return (
    <span className={styles.card}>
      <IconMapPin size={26} stroke={1.5} aria-hidden="true" />
      <span className={styles.cardText}>
        <bdi className={styles.cardName}>{name ?? t.media.place}</bdi>
        {address !== null && <bdi>{address}</bdi>}
        <span className={styles.muted}>{coordinates(latitude, longitude)}</span>
        {isLive && <span className={styles.muted}>{t.media.live}</span>}
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

function ContactCardView({ card }: { card: ContactCard }) {
  const { name, organisation, phones, emails } = card
  return (
    <span className={styles.card}>
      <IconAddressBook size={26} stroke={1.5} aria-hidden="true" />
      <span className={styles.cardText}>
        <bdi className={styles.cardName}>{name === '' ? t.media.card : name}</bdi>
        {organisation !== null && <bdi>{organisation}</bdi>}
        {phones.map(({ phone, label }) => (
          <span key={phone}>
            <bdi>{shown(phone)}</bdi> {label !== null && <bdi className={styles.muted}>{label}</bdi>}
          </span>
        ))}
        {emails.map((email) => (
          <bdi key={email}>{email}</bdi>
        ))}
        <CreateLeadButton card={card} />
      </span>
    </span>
  )
}

const shown = (phone: string): string => (/^[1-9]\d{6,14}$/.test(phone) ? `+${phone}` : phone)

/** Creates a lead from a contact card; an existing lead is found by phone or e-mail. */
function CreateLeadButton({ card }: { card: ContactCard }) {
  const inbox = useInbox()
  const workspaceId = useWorkspaceId()
  const [isBusy, run] = useBusy()
  const [leadId, setLeadId] = useState<string | null>(null)
  const [exists, setExists] = useState(false)
  const create = async () => {
    try {
      const lead = await createLeadFromCard(inbox, card)
      setLeadId(lead.id)
      showToast(t.customer.created({ name: lead.firstName }))
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) throw error
      setExists(true)
    }
  }
  if (leadId !== null) {
    return (
      <Link to="/w/$workspaceId/leads" params={{ workspaceId }} search={{ lead: leadId }}>
        {t.media.openLead}
      </Link>
    )
  }
  if (exists) return <span className={styles.muted}>{t.media.isLead}</span>
  return (
    <button
      type="button"
      className={styles.link}
      disabled={isBusy}
      aria-label={t.media.createLeadOf({ name: card.name })}
      onClick={() => void run(create)}
    >
      {t.media.createLead}
    </button>
  )
}
