import { ActionIcon } from '@mantine/core'
import {
  IconChevronLeft,
  IconChevronRight,
  IconDownload,
  IconX,
  IconZoomIn,
  IconZoomOut,
  type TablerIcon,
} from '@tabler/icons-react'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { fileAddress } from '../../data/inbox/files.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, formatNumber } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useThreadContext } from '../parts/thread-context.ts'
import type { AlbumItem } from './album.ts'
import { isPdf } from './media-rules.ts'
import { useAlbum } from './use-album.ts'
import { useZoom } from './use-zoom.ts'
import styles from './Viewer.module.css'
import { PdfView, VideoView } from './ViewerMedia.tsx'
import { ZoomPicture } from './ZoomPicture.tsx'

interface ViewerProps {
  messageId: string
  close(): void
}

/** Full-window viewer for a file, with the other images and videos of the conversation. */
export default function Viewer({ messageId, close }: ViewerProps) {
  const { conversationId, customerName } = useThreadContext()
  const { item, place, go } = useAlbum(conversationId, messageId)
  const dialog = useRef<HTMLDialogElement>(null)
  const zoom = useZoom(item?.media.id)
  useModal(dialog)
  useViewerKeys({ close, go, larger: zoom.larger, smaller: zoom.smaller, reset: zoom.reset })
  const isPicture = item !== null && isZoomable(item)
  return (
    <dialog ref={dialog} className={styles.viewer} aria-label={t.media.viewer.title} tabIndex={-1} onClose={close}>
      <header className={styles.head}>
        {item !== null && (
          <p className={styles.who}>
            <bdi>{item.direction === 'inbound' ? customerName : t.media.ourTeam}</bdi>
            <time>{formatDateTime(item.at)}</time>
          </p>
        )}
        {isPicture && (
          <>
            <ViewerAction
              icon={IconZoomOut}
              label={t.media.viewer.smaller}
              run={zoom.smaller}
              isOff={zoom.view.scale === 1}
            />
            <ViewerAction icon={IconZoomIn} label={t.media.viewer.larger} run={zoom.larger} />
          </>
        )}
        {item !== null && <Download leaf={item} />}
        <ViewerAction icon={IconX} label={t.common.close} run={close} />
      </header>
      <div className={styles.stage}>
        {item !== null && <ViewerContent key={item.media.id} albumItem={item} zoom={zoom} go={go} />}
      </div>
      {place !== null && place.of > 1 && (
        <>
          <NavigateButton side="previous" isOff={place.n === 1} run={() => go(-1)} />
          <NavigateButton side="next" isOff={place.n === place.of} run={() => go(1)} />
          <p className={styles.place} role="status">
            {t.media.viewer.place({ n: formatNumber(place.n), of: formatNumber(place.of) })}
          </p>
        </>
      )}
    </dialog>
  )
}

const isZoomable = ({ media }: AlbumItem): boolean =>
  media.kind !== 'video' && media.type?.startsWith('image/') === true

interface ViewerContentProps {
  albumItem: AlbumItem
  zoom: ReturnType<typeof useZoom>
  go(step: -1 | 1): void
}

function ViewerContent({ albumItem, zoom, go }: ViewerContentProps) {
  const { customerName } = useThreadContext()
  const { media, direction } = albumItem
  const what = t.media.kinds[media.kind]
  const label = direction === 'inbound' ? t.media.from({ what, who: customerName }) : t.media.fromUs({ what })
  if (isPdf(media)) return <PdfView media={media} />
  if (!isZoomable(albumItem)) return <VideoView media={media} label={label} />
  return <ZoomPicture media={media} label={label} zoom={zoom} go={go} />
}

function Download({ leaf: { media } }: { leaf: AlbumItem }) {
  const workspaceId = useWorkspaceId()
  return (
    <ActionIcon
      component="a"
      variant="subtle"
      color="gray"
      size="lg"
      href={fileAddress(workspaceId, media.id)}
      download={media.name ?? ''}
      aria-label={t.media.download}
      title={t.media.download}
    >
      <IconDownload size={20} />
    </ActionIcon>
  )
}

interface ViewerActionProps {
  icon: TablerIcon
  label: string
  run(): void
  isOff?: boolean
}

// Disabled by `aria-disabled`, not `disabled`, to keep the focus, so that shortcuts work on.
function ViewerAction({ icon: Icon, label, run, isOff = false }: ViewerActionProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={label}
      title={label}
      aria-disabled={isOff}
      data-disabled={isOff || undefined}
      onClick={isOff ? undefined : run}
    >
      <Icon size={20} />
    </ActionIcon>
  )
}

function NavigateButton({ side, isOff, run }: { side: 'previous' | 'next'; isOff: boolean; run(): void }) {
  return (
    <div className={styles.turn} data-side={side}>
      <ViewerAction
        icon={side === 'next' ? IconChevronRight : IconChevronLeft}
        label={t.media.viewer[side]}
        run={run}
        isOff={isOff}
      />
    </div>
  )
}

/** Opens a modal dialog that traps the focus, and restores the focus when closed. */
function useModal(dialog: { current: HTMLDialogElement | null }): void {
  // Closed before it is removed: the browser restores the focus only then.
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    // Not on the first button, which performs an action.
    element?.focus()
    return () => element?.close()
  }, [dialog])
}

interface ViewerKeys {
  close(): void
  go(step: -1 | 1): void
  larger(): void
  smaller(): void
  reset(): void
}

function useViewerKeys(keys: ViewerKeys): void {
  const latest = useRef(keys)
  latest.current = keys
  const [actions] = useState<Record<string, () => void>>(() => ({
    ArrowRight: () => latest.current.go(1),
    ArrowLeft: () => latest.current.go(-1),
    '+': () => latest.current.larger(),
    '=': () => latest.current.larger(),
    '-': () => latest.current.smaller(),
    '0': () => latest.current.reset(),
    Escape: () => latest.current.close(),
  }))
  useEffect(() => {
    // Captured before the page's shortcuts, which act on what is below.
    const onKeyDown = (event: KeyboardEvent) => {
      event.stopPropagation()
      const isField = event.target instanceof HTMLMediaElement && event.key.startsWith('Arrow')
      const act = event.ctrlKey || event.metaKey || event.altKey || isField ? undefined : actions[event.key]
      if (act === undefined) return
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', onKeyDown, true)
    return () => document.removeEventListener('keydown', onKeyDown, true)
  }, [actions])
}
