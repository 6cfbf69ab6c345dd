import {
  IconAlertTriangle,
  IconClockDown,
  IconFileOff,
  IconFileX,
  IconScale,
  type TablerIcon,
} from '@tabler/icons-react'
import type { CSSProperties } from 'react'
import { retryFileDownload } from '../../data/inbox/files.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Media, Message } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { formatFileSize } from '../../ui/format/size.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { fileFailure } from '../parts/file-failures.ts'
import { mediaLabel } from '../parts/inbox-texts.ts'
import { useThreadContext } from '../parts/thread-context.ts'
import { useBusy } from '../parts/use-busy.ts'
import { AudioMessage } from './AudioMessage.tsx'
import { FileCard } from './FileCard.tsx'
import styles from './media.module.css'
import { hasReservedSize, mediaViewOf, sizeInBubble } from './media-rules.ts'
import { Picture, Placeholder } from './Picture.tsx'
import { canPlay } from './player.ts'

interface MediaPartProps {
  messageId: string
  direction: Message['direction']
  media: Media
}

export default function MediaPart({ messageId, direction, media }: MediaPartProps) {
  const workspaceId = useWorkspaceId()
  const { conversationId, customerName, openFile } = useThreadContext()
  const { id: mediaId, state, seconds } = media
  if (state !== 'here') return <Unavailable media={{ ...media, state }} />
  const title = mediaLabel(media, direction, customerName)
  const open = () => openFile(messageId)
  const view = mediaViewOf(media, canPlay)
  if (view === 'file') return <FileCard media={media} open={open} />
  if (view === 'sound') {
    return <AudioMessage media={media} track={{ workspaceId, conversationId, messageId, mediaId, title, seconds }} />
  }
  return <Picture media={media} label={title} open={open} />
}

type UnavailableState = Exclude<Media['state'], 'here'>

const icons: Record<UnavailableState, TablerIcon> = {
  coming: IconClockDown,
  too_large: IconScale,
  gone: IconFileOff,
  refused: IconFileX,
  failed: IconAlertTriangle,
}

/** A file that is loading or failed: its name and the reason. */
function Unavailable({ media }: { media: Media & { state: UnavailableState } }) {
  const { kind, state, name, bytes, failure } = media
  const Icon = icons[state]
  // A loading image reserves its final size; a failed one only the size of its text.
  const isReserved = state === 'coming' && hasReservedSize(media)
  const { width, height } = sizeInBubble(media)
  const reservedSize = isReserved ? ({ '--w': `${width}px`, '--ratio': `${width} / ${height}` } as CSSProperties) : {}
  return (
    <span className={isReserved ? styles.picture : styles.missing} data-state={state} style={reservedSize}>
      {isReserved && <Placeholder placeholder={media.placeholder} />}
      <span className={styles.why} title={failure ?? undefined}>
        <Icon size={18} stroke={1.7} aria-hidden="true" />
        <span>
          <bdi className={styles.fileName}>{name ?? t.media.kinds[kind]}</bdi>
          <span className={styles.facts} role={state === 'coming' ? 'status' : undefined}>
            {reasonText(state, failure)}
            {bytes !== null && ` · ${formatFileSize(bytes)}`}
          </span>
          {state !== 'coming' && state !== 'too_large' && <RetryButton mediaId={media.id} />}
        </span>
      </span>
    </span>
  )
}

/** Returns the reason if known; a file that is still being retried may arrive. */
const reasonText = (state: UnavailableState, failure: string | null): string =>
  (state === 'coming' ? null : fileFailure(failure)) ?? t.media.states[state]

function RetryButton({ mediaId }: { mediaId: string }) {
  const inbox = useInbox()
  const { conversationId } = useThreadContext()
  const [isBusy, run] = useBusy()
  const retry = () => retryFileDownload(inbox, conversationId, mediaId)
  return (
    <button type="button" className={styles.retry} disabled={isBusy} onClick={() => void run(retry)}>
      {t.media.retry}
    </button>
  )
}
