import {
  IconDownload,
  IconEye,
  IconFile,
  IconFileText,
  IconMusic,
  IconPhoto,
  IconVideo,
  type TablerIcon,
} from '@tabler/icons-react'
import { fileAddress } from '../../data/inbox/files.ts'
import type { Media } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { formatFileSize } from '../../ui/format/size.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './media.module.css'
import { extensionOf, isPdf } from './media-rules.ts'

const icons: Record<Media['kind'], TablerIcon> = {
  image: IconPhoto,
  sticker: IconPhoto,
  video: IconVideo,
  audio: IconMusic,
  voice: IconMusic,
  document: IconFile,
}

/** A file to download, or to view if the browser can. */
export function FileCard({ media, open }: { media: Media; open(): void }) {
  const workspaceId = useWorkspaceId()
  const { kind, name, bytes } = media
  const canLook = isPdf(media) && navigator.pdfViewerEnabled
  const Icon = isPdf(media) ? IconFileText : icons[kind]
  const shown = name ?? (kind === 'document' ? t.media.unnamed : t.media.kinds[kind])
  const facts = [extensionOf(name), bytes === null ? null : formatFileSize(bytes)].filter((one) => one !== null)
  return (
    <span className={styles.file}>
      <Icon size={26} stroke={1.5} aria-hidden="true" />
      <span className={styles.fileText}>
        <bdi className={styles.fileName}>{shown}</bdi>
        <span className={styles.facts}>{facts.join(' · ')}</span>
        {kind !== 'document' && (
          <span className={styles.facts}>
            {kind === 'audio' || kind === 'voice' ? t.media.cannotPlay : t.media.cannotShow}
          </span>
        )}
      </span>
      {canLook && (
        <button
          type="button"
          className={styles.act}
          aria-label={t.media.previewNamed({ name: shown })}
          title={t.media.preview}
          onClick={open}
        >
          <IconEye size={18} aria-hidden="true" />
        </button>
      )}
      <a
        className={styles.act}
        href={fileAddress(workspaceId, media.id)}
        download={name ?? ''}
        aria-label={t.media.downloadNamed({ name: shown })}
        title={t.media.download}
      >
        <IconDownload size={18} aria-hidden="true" />
      </a>
    </span>
  )
}
