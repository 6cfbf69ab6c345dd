import { IconAlertCircle } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { fileAddress, previewAddress } from '../../data/inbox/files.ts'
import type { Media } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { type Speed, speedAfter } from './media-rules.ts'
import { pausePlayer } from './player.ts'
import { useGestures, type Zoom } from './use-zoom.ts'
import styles from './Viewer.module.css'

/** Video with the browser's controls and a playback speed. */
export function VideoView({ media, label }: { media: Media; label: string }) {
  const workspaceId = useWorkspaceId()
  const video = useRef<HTMLVideoElement>(null)
  const [speed, setSpeed] = useState<Speed>(1)
  const [isBroken, setBroken] = useState(false)
  useEffect(pausePlayer, [])
  const faster = () => {
    const next = speedAfter(speed)
    if (video.current !== null) video.current.playbackRate = next
    setSpeed(next)
  }
  const times = `${speed}×`
  return (
    <div className={styles.film}>
      <video
        ref={video}
        src={fileAddress(workspaceId, media.id)}
        poster={media.hasPreview ? previewAddress(workspaceId, media.id) : undefined}
        aria-label={label}
        controls
        autoPlay
        playsInline
        onError={() => setBroken(true)}
        {...sizeOf(media)}
      />
      {isBroken && (
        <p className={styles.broken} role="alert">
          {t.media.cannotPlay}
        </p>
      )}
      <button type="button" className={styles.speed} aria-label={t.media.speed({ times })} onClick={faster}>
        {times}
      </button>
    </div>
  )
}

/** PDF in the browser's viewer. The response is sandboxed, so that nothing in it can reach this page. */
export function PdfView({ media }: { media: Media }) {
  const workspaceId = useWorkspaceId()
  return (
    <iframe
      className={styles.sheet}
      src={fileAddress(workspaceId, media.id)}
      title={media.name ?? t.media.kinds.document}
      referrerPolicy="no-referrer"
    />
  )
}

interface ZoomPictureProps {
  media: Media
  label: string
  zoom: Zoom
  go(step: -1 | 1): void
}

/** Image as large as the window; the placeholder until it has loaded. */
export function ZoomPicture({ media, label, zoom, go }: ZoomPictureProps) {
  const workspaceId = useWorkspaceId()
  const [state, setState] = useState<'loading' | 'there' | 'broken'>('loading')
  const gestures = useGestures(zoom, go)
  const { scale, x, y } = zoom.view
  const size = sizeOf(media)
  return (
    <div ref={zoom.frame} className={styles.frame} data-large={scale > 1 || undefined} {...gestures}>
      {state === 'loading' && media.hasPreview && (
        <img className={styles.early} src={previewAddress(workspaceId, media.id)} alt="" {...size} />
      )}
      {state === 'broken' ? (
        <p className={styles.broken} role="alert">
          <IconAlertCircle size={18} aria-hidden="true" /> {t.media.states.unloaded}
        </p>
      ) : (
        <img
          ref={zoom.picture}
          src={fileAddress(workspaceId, media.id)}
          alt={label}
          draggable={false}
          style={{ transform: `translate(${x}px, ${y}px) scale(${scale})` }}
          onLoad={() => setState('there')}
          onError={() => setState('broken')}
          {...size}
        />
      )}
    </div>
  )
}

/** Reserves the size of a file, if it is known. */
const sizeOf = ({ width, height }: Media) => (width === null || height === null ? {} : { width, height })
