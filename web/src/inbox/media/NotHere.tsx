import {
  IconAlertTriangle,
  IconClockDown,
  IconFileOff,
  IconFileX,
  IconScale,
  type TablerIcon,
} from '@tabler/icons-react'
import { type CSSProperties, useState } from 'react'
import { tryFileAgain } from '../../data/inbox/files.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Media } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { fileSize } from '../../ui/format/size.ts'
import { complain } from '../../ui/overlay/notices.tsx'
import { fileFailure } from '../parts/file-failures.ts'
import styles from './media.module.css'
import { hasPictureRoom, sizeInBubble } from './media-rules.ts'
import { Placeholder } from './Picture.tsx'

type Missing = Exclude<Media['state'], 'here'>

const icons: Record<Missing, TablerIcon> = {
  coming: IconClockDown,
  too_large: IconScale,
  gone: IconFileOff,
  refused: IconFileX,
  failed: IconAlertTriangle,
}

/** A file that is on its way, or is not coming: what it is said to be, and why it is not here. */
export function NotHere({ conversationId, media }: { conversationId: string; media: Media & { state: Missing } }) {
  const { kind, state, name, bytes, failure } = media
  const Icon = icons[state]
  // What comes takes the room that it will have; what does not come only that of its words.
  const isRoomy = state === 'coming' && hasPictureRoom(media)
  const { width, height } = sizeInBubble(media)
  const room = isRoomy ? ({ '--w': `${width}px`, '--ratio': `${width} / ${height}` } as CSSProperties) : {}
  return (
    <span className={isRoomy ? styles.picture : styles.missing} data-state={state} style={room}>
      {isRoomy && <Placeholder placeholder={media.placeholder} />}
      <span className={styles.why} title={failure ?? undefined}>
        <Icon size={18} stroke={1.7} aria-hidden="true" />
        <span>
          <bdi className={styles.fileName}>{name ?? t.media.kinds[kind]}</bdi>
          <span className={styles.facts} role={state === 'coming' ? 'status' : undefined}>
            {wordsOf(state, failure)}
            {bytes !== null && ` · ${fileSize(bytes)}`}
          </span>
          {state !== 'coming' && state !== 'too_large' && <Again conversationId={conversationId} mediaId={media.id} />}
        </span>
      </span>
    </span>
  )
}

/** The reason where it is known; a file that is still tried for may come all the same. */
const wordsOf = (state: Missing, failure: string | null): string =>
  (state === 'coming' ? null : fileFailure(failure)) ?? t.media.states[state]

function Again({ conversationId, mediaId }: { conversationId: string; mediaId: string }) {
  const inbox = useInbox()
  const [isAsking, setAsking] = useState(false)
  const ask = async () => {
    setAsking(true)
    await tryFileAgain(inbox, conversationId, mediaId).catch(complain)
    setAsking(false)
  }
  return (
    <button type="button" className={styles.again} disabled={isAsking} onClick={() => void ask()}>
      {t.media.again}
    </button>
  )
}
