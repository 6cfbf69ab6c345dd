import { useEffect, useRef, useState } from 'react'
import { fileAddress, previewAddress } from '../../data/inbox/files.ts'
import type { Media } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { type Speed, speedAfter } from './media-rules.ts'
import { pausePlayer } from './player.ts'
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
        {...(media.width === null || media.height === null ? {} : { width: media.width, height: media.height })}
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
