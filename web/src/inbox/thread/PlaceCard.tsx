import { IconMapPin } from '@tabler/icons-react'
import type { Place } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { coordinates, mapAddress } from '../media/media-rules.ts'
import styles from './parts.module.css'

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
