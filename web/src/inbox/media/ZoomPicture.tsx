import { IconAlertCircle } from '@tabler/icons-react'
import { useState } from 'react'
import { fileAddress, previewAddress } from '../../data/inbox/files.ts'
import type { Media } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useGestures, type Zoom } from './use-zoom.ts'
import styles from './Viewer.module.css'

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
  const size = media.width === null || media.height === null ? {} : { width: media.width, height: media.height }
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
