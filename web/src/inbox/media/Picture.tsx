import { IconAlertCircle, IconPlayerPlayFilled } from '@tabler/icons-react'
import { type CSSProperties, useState } from 'react'
import { fileAddress, previewAddress } from '../../data/inbox/files.ts'
import type { Media } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { formatPlaybackTime } from '../../ui/format/size.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './media.module.css'
import { placeholderAddress, sizeInBubble } from './media-rules.ts'

interface PictureProps {
  media: Media
  /** Alternative text: whose file it is. */
  label: string
  open(): void
}

/** Image, sticker or video preview: reserves its size, blurred until loaded. */
export function Picture({ media, label, open }: PictureProps) {
  const workspaceId = useWorkspaceId()
  const [state, setState] = useState<'loading' | 'there' | 'broken'>('loading')
  const { width, height } = sizeInBubble(media)
  const isVideo = media.kind === 'video'
  // The preview of an animated sticker does not move.
  const isWhole = !media.hasPreview || (media.isAnimated && media.kind === 'sticker')
  const address = isWhole ? fileAddress(workspaceId, media.id) : previewAddress(workspaceId, media.id)
  const image = (
    <>
      {state !== 'there' && <Placeholder placeholder={media.placeholder} />}
      {state === 'broken' && (
        <span className={styles.broken}>
          <IconAlertCircle size={16} aria-hidden="true" />
          {t.media.states.unloaded}
        </span>
      )}
      {(!isVideo || media.hasPreview) && (
        <img
          src={address}
          alt={label}
          loading="lazy"
          decoding="async"
          draggable={false}
          data-state={state}
          onLoad={() => setState('there')}
          onError={() => setState('broken')}
        />
      )}
      {isVideo && (
        <span className={styles.film}>
          <IconPlayerPlayFilled size={22} aria-hidden="true" />
        </span>
      )}
      {isVideo && media.seconds !== null && <span className={styles.length}>{formatPlaybackTime(media.seconds)}</span>}
    </>
  )
  const room = { '--w': `${width}px`, '--ratio': `${width} / ${height}` } as CSSProperties
  if (media.kind === 'sticker') {
    return (
      <span className={styles.picture} data-kind="sticker" style={room}>
        {image}
      </span>
    )
  }
  return (
    <button
      type="button"
      className={styles.picture}
      data-kind={media.kind}
      style={room}
      aria-label={t.media.open({ what: label })}
      onClick={open}
    >
      {image}
    </button>
  )
}

export function Placeholder({ placeholder }: Pick<Media, 'placeholder'>) {
  const address = placeholderAddress(placeholder)
  return address === null ? null : <img className={styles.placeholder} src={address} alt="" aria-hidden="true" />
}
