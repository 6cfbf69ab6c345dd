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
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { fileAddress } from '../../data/inbox/files.ts'
import { cachedFile, useGallery } from '../../data/inbox/gallery.ts'
import { useCachedThread, useInbox } from '../../data/inbox/queries.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, formatNumber } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { IconButton } from '../parts/IconButton.tsx'
import { mediaLabel } from '../parts/inbox-texts.ts'
import { useThreadContext } from '../parts/thread-context.ts'
import { type AlbumItem, albumKinds, albumOf, isPdf } from './media-rules.ts'
import { useZoom } from './use-zoom.ts'
import styles from './Viewer.module.css'
import { PdfView, VideoView, ZoomPicture } from './ViewerMedia.tsx'

/** Full-window viewer for a file, with the other images and videos of the conversation. */
export default function Viewer({ messageId, close }: { messageId: string; close(): void }) {
  const { conversationId, customerName } = useThreadContext()
  const { item, place, go } = useAlbum(conversationId, messageId)
  const dialog = useRef<HTMLDialogElement>(null)
  const zoom = useZoom(item?.media.id)
  useModal(dialog)
  useViewerKeys({
    ArrowRight: () => go(1),
    ArrowLeft: () => go(-1),
    '+': zoom.larger,
    '=': zoom.larger,
    '-': zoom.smaller,
    '0': zoom.reset,
    Escape: close,
  })
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
        {item !== null && <Download media={item.media} />}
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
  const label = mediaLabel(media, direction, customerName)
  if (isPdf(media)) return <PdfView media={media} />
  if (!isZoomable(albumItem)) return <VideoView media={media} label={label} />
  return <ZoomPicture media={media} label={label} zoom={zoom} go={go} />
}

function Download({ media }: Pick<AlbumItem, 'media'>) {
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
function ViewerAction({ icon, label, run, isOff = false }: ViewerActionProps) {
  return (
    <IconButton
      icon={icon}
      iconSize={20}
      size="lg"
      label={label}
      aria-disabled={isOff}
      data-disabled={isOff || undefined}
      onClick={isOff ? undefined : run}
    />
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

function useViewerKeys(keys: Record<string, () => void>): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    // Captured before the page's shortcuts, which act on what is below.
    const onKeyDown = (event: KeyboardEvent) => {
      event.stopPropagation()
      const isField = event.target instanceof HTMLMediaElement && event.key.startsWith('Arrow')
      const act = event.ctrlKey || event.metaKey || event.altKey || isField ? undefined : latest.current[event.key]
      if (act === undefined) return
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', onKeyDown, true)
    return () => document.removeEventListener('keydown', onKeyDown, true)
  }, [])
}

interface Album {
  /** Current file; null if it no longer exists. */
  item: AlbumItem | null
  /** Position among the known items; null if there are no others. */
  place: { n: number; of: number } | null
  go(step: -1 | 1): void
}

// Older items are loaded from the second item on, so that navigation does not end early.
const nearStart = 2

/** Images and videos of the conversation by time, from the opened one; loads older ones during navigation. */
function useAlbum(conversationId: string, openedId: string): Album {
  const inbox = useInbox()
  const { workspaceId } = inbox
  const [shownId, setShownId] = useState(openedId)
  const items = useCachedThread(workspaceId, conversationId)?.items
  const { query, items: gallery } = useGallery(workspaceId, conversationId, albumKinds)
  const leaves = useMemo(() => albumOf(items ?? [], gallery), [items, gallery])
  const n = leaves.findIndex(({ messageId }) => messageId === shownId)
  const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = query
  const oldestRead = gallery.at(-1)?.at ?? ''
  const shownAt = leaves[n]?.at ?? ''
  const wantsMore = n !== -1 && (n < nearStart || shownAt <= oldestRead)
  useEffect(() => {
    if (wantsMore && hasNextPage && !isFetchingNextPage && !isError) void fetchNextPage()
  }, [wantsMore, hasNextPage, isFetchingNextPage, isError, fetchNextPage])
  useEffect(() => {
    for (const one of [leaves[n - 1], leaves[n + 1]]) {
      if (one?.media.kind === 'image') new Image().src = fileAddress(workspaceId, one.media.id)
    }
  }, [leaves, n, workspaceId])
  return {
    // Documents, and files not loaded yet, are in no album.
    item: leaves[n] ?? cachedFile(inbox, conversationId, shownId),
    place: n === -1 ? null : { n: n + 1, of: leaves.length },
    go: (step) => {
      const next = n === -1 ? undefined : leaves[n + step]
      if (next !== undefined) setShownId(next.messageId)
    },
  }
}
