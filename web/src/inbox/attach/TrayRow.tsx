import { ActionIcon } from '@mantine/core'
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
import { Suspense } from 'react'
import { t } from '../../text/index.ts'
import { errorSentence } from '../../ui/format/error-texts.ts'
import { formatFileSize, formatPlaybackTime } from '../../ui/format/size.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { type Attachment, type Attachments, takesCaption } from './attachment.ts'
import { type Change, reduceAttachments } from './attachments.ts'
import styles from './Tray.module.css'
import { useThumbnail } from './use-thumbnail.ts'

const VoicePreview = prefetchedComponent(() => import('./VoicePreview.tsx'))

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

export function TrayRow(props: TrayRowProps) {
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
            <ActionButton label={texts.earlier({ name })} isOff={isFirst} run={() => move(-1)} Icon={IconArrowUp} />
            <ActionButton label={texts.later({ name })} isOff={isLast} run={() => move(1)} Icon={IconArrowDown} />
          </>
        )}
        {step.at !== 'sending' && (
          <ActionButton
            label={texts.remove({ name })}
            run={() => arrange((before) => reduceAttachments(before, { type: 'cancelled', id }))}
            Icon={IconX}
          />
        )}
      </div>
    </li>
  )
}

interface ActionButtonProps {
  label: string
  isOff?: boolean
  Icon: typeof IconX
  run(): void
}

const ActionButton = ({ label, isOff, Icon, run }: ActionButtonProps) => (
  <ActionIcon variant="subtle" color="gray" aria-label={label} title={label} disabled={isOff} onClick={run}>
    <Icon size={16} />
  </ActionIcon>
)

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
