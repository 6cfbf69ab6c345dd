import { CloseButton } from '@mantine/core'
import {
  IconArrowDown,
  IconArrowUp,
  IconFile,
  IconMicrophone,
  IconMovie,
  IconMusic,
  IconPhoto,
  IconX,
} from '@tabler/icons-react'
import { Suspense, useEffect, useState } from 'react'
import type { MediaKind } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { errorSentence } from '../../ui/format/error-texts.ts'
import { formatFileSize, formatPlaybackTime } from '../../ui/format/size.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { IconButton } from '../parts/IconButton.tsx'
import { type Attachment, type Attachments, captionTarget, takesCaption, unsentAttachments } from './attachment.ts'
import { type Change, reduceAttachments } from './attachments.ts'
import styles from './Tray.module.css'
import { changeAttachments, setRejected } from './tray.ts'
import { type RejectedFile, useTray } from './tray-store.ts'

const VoicePreview = prefetchedComponent(() => import('./VoicePreview.tsx'))

interface TrayProps {
  conversationId: string
  captionLength: number
  /** Reorders or removes files; captions stay with their files. */
  arrange(change: (before: Attachments) => Attachments): void
  retry(one: Attachment): void
}

/** Files to be sent and files being sent, with their progress and actions. */
export default function Tray({ conversationId, captionLength, arrange, retry }: TrayProps) {
  const workspaceId = useWorkspaceId()
  const { attachments, rejected } = useTray(workspaceId, conversationId)
  const waiting = unsentAttachments(attachments)
  const lead = captionTarget(attachments)
  return (
    <>
      {rejected.length > 0 && (
        <div className={styles.refused} role="alert">
          <div>
            {rejected.map((one, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: several files may have the same name
              <p key={n}>{rejectionText(one)}</p>
            ))}
          </div>
          <CloseButton
            size="sm"
            c="inherit"
            aria-label={t.common.close}
            onClick={() => setRejected(workspaceId, conversationId, [])}
          />
        </div>
      )}
      {attachments.length > 0 && (
        <section className={styles.tray} aria-label={t.files.files}>
          <ul className={styles.rows}>
            {attachments.map((one, n) => (
              <TrayRow
                key={one.id}
                attachment={one}
                isBehind={n > 0 && one.submitted !== null}
                hasCaption={waiting.length > 1 && one.submitted === null && one.id !== lead?.id}
                captionLength={captionLength}
                change={(change) => changeAttachments(workspaceId, conversationId, change)}
                arrange={arrange}
                retry={() => retry(one)}
                isFirst={one.id === waiting[0]?.id}
                isLast={one.id === waiting.at(-1)?.id}
              />
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function rejectionText({ name, reason, limit }: RejectedFile): string {
  const { refused } = t.files
  if (reason === 'size') return refused.size({ name, most: formatFileSize(limit) })
  return reason === 'many' ? refused.many({ name, most: formatNumber(limit) }) : refused[reason]({ name })
}

interface TrayRowProps {
  attachment: Attachment
  isBehind: boolean
  hasCaption: boolean
  captionLength: number
  isFirst: boolean
  isLast: boolean
  change(change: Change): void
  arrange(change: (before: Attachments) => Attachments): void
  retry(): void
}

function TrayRow(props: TrayRowProps) {
  const { attachment, isBehind, hasCaption, captionLength, isFirst, isLast, change, arrange, retry } = props
  const { id, name, kind, file, seconds, caption, submitted, step } = attachment
  const texts = t.files
  const move = (by: -1 | 1) => arrange((before) => reduceAttachments(before, { type: 'moved', id, by }))
  const isMovable = submitted === null && !(isFirst && isLast)
  return (
    <li className={styles.row} data-bad={step.at === 'failed' || undefined}>
      <Thumbnail attachment={attachment} />
      <div className={styles.facts}>
        <div className={styles.name}>
          {kind === 'voice' && seconds !== null ? (
            <Suspense>
              <VoicePreview recording={attachment} />
            </Suspense>
          ) : (
            <span dir="auto" title={name}>
              {name}
            </span>
          )}
          <small>
            {seconds === null ? `${texts.kinds[kind]} · ${formatFileSize(file.size)}` : formatPlaybackTime(seconds)}
          </small>
        </div>
        {hasCaption && takesCaption(kind) && (
          <input
            className={styles.caption}
            aria-label={t.attach.captionOf({ name })}
            placeholder={t.attach.caption}
            maxLength={captionLength}
            dir="auto"
            value={caption}
            onChange={({ currentTarget: { value } }) => change({ type: 'captioned', id, caption: value })}
          />
        )}
        <StepStatus attachment={attachment} isBehind={isBehind} retry={retry} />
      </div>
      <div className={styles.actions}>
        {isMovable && (
          <>
            <IconButton
              icon={IconArrowUp}
              iconSize={16}
              label={texts.earlier({ name })}
              disabled={isFirst}
              onClick={() => move(-1)}
            />
            <IconButton
              icon={IconArrowDown}
              iconSize={16}
              label={texts.later({ name })}
              disabled={isLast}
              onClick={() => move(1)}
            />
          </>
        )}
        {step.at !== 'sending' && (
          <IconButton
            icon={IconX}
            iconSize={16}
            label={texts.remove({ name })}
            onClick={() => arrange((before) => reduceAttachments(before, { type: 'cancelled', id }))}
          />
        )}
      </div>
    </li>
  )
}

const icons = {
  image: IconPhoto,
  sticker: IconPhoto,
  video: IconMovie,
  audio: IconMusic,
  voice: IconMicrophone,
  document: IconFile,
} as const

function Thumbnail({ attachment: { file, kind } }: { attachment: Attachment }) {
  const thumbnail = useThumbnail(file, kind)
  const Icon = icons[kind]
  return (
    <span className={styles.face} aria-hidden="true">
      {thumbnail === null ? <Icon size={20} stroke={1.6} /> : <img src={thumbnail} alt="" />}
    </span>
  )
}

/** Progress of a file, or why it failed. */
function StepStatus({ attachment, isBehind, retry }: Pick<TrayRowProps, 'attachment' | 'isBehind' | 'retry'>) {
  const { step, name, submitted } = attachment
  const texts = t.files
  switch (step.at) {
    case 'waiting':
      return <p className={styles.state}>{texts.waiting}</p>
    case 'uploading':
      return (
        <p className={styles.state}>
          <progress className={styles.share} max={1} value={step.share} aria-label={name} />
          {texts.uploading({ percent: formatNumber(step.share, { style: 'percent', maximumFractionDigits: 0 }) })}
        </p>
      )
    case 'ready':
      return submitted !== null && <p className={styles.state}>{isBehind ? texts.behind : texts.sending}</p>
    case 'sending':
      return (
        <p className={styles.state} role="status">
          {texts.sending}
        </p>
      )
    case 'failed':
      return (
        <p className={styles.state} role="alert">
          <span>{step.upload === null ? `${texts.notUploaded}. ${errorSentence(step.error)}` : texts.notSent}</span>
          <button type="button" className={styles.retry} aria-label={texts.tryAgainWith({ name })} onClick={retry}>
            {texts.tryAgain}
          </button>
        </p>
      )
    default:
      return step satisfies never
  }
}

const sidePx = 88
/** Larger images would use too much memory for a small thumbnail. */
const maxBytes = 30_000_000

/** Returns the thumbnail of an image; null until it is ready, and for other files. */
function useThumbnail(file: Blob, kind: MediaKind): string | null {
  const [url, setUrl] = useState<string | null>(null)
  useEffect(() => {
    if ((kind !== 'image' && kind !== 'sticker') || file.size > maxBytes) return
    let isGone = false
    void draw(file).then(
      (dataUrl) => isGone || setUrl(dataUrl),
      () => {},
    )
    return () => {
      isGone = true
    }
  }, [file, kind])
  return url
}

// As a data URL: the Content-Security-Policy does not allow object URLs.
async function draw(file: Blob): Promise<string> {
  const picture = await createImageBitmap(file)
  const shrink = sidePx / Math.min(picture.width, picture.height)
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = sidePx
  const [width, height] = [picture.width * shrink, picture.height * shrink]
  canvas.getContext('2d')?.drawImage(picture, (sidePx - width) / 2, (sidePx - height) / 2, width, height)
  picture.close()
  return canvas.toDataURL('image/webp', 0.8)
}
