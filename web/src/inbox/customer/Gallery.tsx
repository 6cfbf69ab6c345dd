import { IconPhotoOff, IconPlayerPlayFilled } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { fileAddress, previewAddress } from '../../data/inbox/files.ts'
import { useGallery } from '../../data/inbox/gallery.ts'
import { useCachedThread } from '../../data/inbox/queries.ts'
import type { GalleryItem, Media } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, formatShortTime } from '../../ui/format/time.ts'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { Segments } from '../../ui/page/Segments.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { FileCard } from '../media/FileCard.tsx'
import MediaPart from '../media/MediaPart.tsx'
import { Placeholder } from '../media/Picture.tsx'
import { mediaLabel } from '../parts/inbox-texts.ts'
import { useThreadContext } from '../parts/thread-context.ts'
import styles from './Gallery.module.css'
import { Section } from './Section.tsx'

const tabs = {
  seen: ['image', 'video'],
  files: ['document'],
  heard: ['voice', 'audio'],
} as const satisfies Record<string, readonly Media['kind'][]>

type Tab = keyof typeof tabs

/** Files of the conversation, newest first, with links to their messages. */
export function Gallery() {
  const [tab, setTab] = useState<Tab>('seen')
  const texts = t.media.gallery
  return (
    <Section title={texts.title}>
      <div className={styles.tabs}>
        <Segments
          isWide
          value={tab}
          onChange={setTab}
          label={texts.title}
          data={(Object.keys(tabs) as Tab[]).map((one) => ({ value: one, label: texts.tabs[one] }))}
        />
      </div>
      <GalleryTab key={tab} tab={tab} />
    </Section>
  )
}

function GalleryTab({ tab }: { tab: Tab }) {
  const workspaceId = useWorkspaceId()
  const { conversationId } = useThreadContext()
  const { query, items } = useGallery(workspaceId, conversationId, tabs[tab])
  const { refetch } = query
  // New files appear in the thread first.
  const thread = useCachedThread(workspaceId, conversationId)
  const newest = thread?.items.findLast(({ message }) => message?.media != null)?.id
  // Not on first render: it has just been loaded.
  const [known] = useState(newest)
  useEffect(() => {
    if (newest !== known) void refetch()
  }, [newest, known, refetch])
  const texts = t.media.gallery
  if (query.isError && items.length === 0) return <ErrorState error={query.error} retry={() => void refetch()} />
  if (query.isPending) return <div className={styles.skeleton} aria-busy="true" />
  if (items.length === 0) return <p className={styles.muted}>{texts.none[tab]}</p>
  return (
    <>
      <ul className={tab === 'seen' ? styles.grid : styles.list}>
        {items.map((item) => (
          <li key={item.media.id}>{tab === 'seen' ? <Thumb item={item} /> : <Row item={item} />}</li>
        ))}
      </ul>
      {query.hasNextPage && (
        <button
          type="button"
          className={styles.more}
          disabled={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {texts.more}
        </button>
      )}
    </>
  )
}

function Thumb({ item: { messageId, at, direction, media } }: { item: GalleryItem }) {
  const workspaceId = useWorkspaceId()
  const { customerName, openFile, showMessage } = useThreadContext()
  const label = mediaLabel(media, direction, customerName)
  const isHere = media.state === 'here' && media.isInline
  const isDrawn = media.hasPreview || (isHere && media.kind === 'image')
  const address = media.hasPreview ? previewAddress(workspaceId, media.id) : fileAddress(workspaceId, media.id)
  return (
    <button
      type="button"
      className={styles.thumb}
      title={`${label} · ${formatDateTime(at)}`}
      aria-label={isHere ? t.media.open({ what: label }) : `${label}: ${t.media.toMessage}`}
      onClick={() => (isHere ? openFile(messageId) : showMessage(messageId))}
    >
      <Placeholder placeholder={media.placeholder} />
      {media.state === 'here' && isDrawn && <img src={address} alt="" loading="lazy" decoding="async" />}
      {media.state !== 'here' && <IconPhotoOff size={20} aria-hidden="true" />}
      {isHere && media.kind === 'video' && (
        <span className={styles.film}>
          <IconPlayerPlayFilled size={14} aria-hidden="true" />
        </span>
      )}
    </button>
  )
}

function Row({ item: { messageId, at, direction, media } }: { item: GalleryItem }) {
  const { customerName, openFile, showMessage } = useThreadContext()
  return (
    <>
      {media.kind === 'document' && media.state === 'here' ? (
        <FileCard media={media} open={() => openFile(messageId)} />
      ) : (
        <MediaPart messageId={messageId} direction={direction} media={media} />
      )}
      <button type="button" className={styles.where} title={t.media.toMessage} onClick={() => showMessage(messageId)}>
        <bdi>{direction === 'inbound' ? customerName : t.media.ourTeam}</bdi> · <time>{formatShortTime(at)}</time>
      </button>
    </>
  )
}
