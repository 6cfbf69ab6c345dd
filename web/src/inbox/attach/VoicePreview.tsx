import { ActionIcon } from '@mantine/core'
import { IconPlayerPauseFilled, IconPlayerPlayFilled } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { t } from '../../text/index.ts'
import type { Attachment } from './attachment.ts'
import styles from './VoicePreview.module.css'

/** Plays a recording before it is sent. */
export default function VoicePreview({ recording: { file, seconds, waveform } }: { recording: Attachment }) {
  const { voice: texts } = t.files
  const player = useRef<HTMLAudioElement | null>(null)
  const [isPlaying, setPlaying] = useState(false)
  const [share, setShare] = useState(0)
  useEffect(() => {
    const url = URL.createObjectURL(file)
    const audio = new Audio(url)
    audio.ontimeupdate = () => setShare(seconds === null ? 0 : audio.currentTime / seconds)
    audio.onplay = () => setPlaying(true)
    audio.onpause = () => setPlaying(false)
    audio.onended = () => setShare(0)
    player.current = audio
    return () => {
      audio.pause()
      URL.revokeObjectURL(url)
    }
  }, [file, seconds])
  const toggle = () => {
    if (isPlaying) player.current?.pause()
    else void player.current?.play().catch(() => setPlaying(false))
  }
  const heights = waveform ?? []
  const label = isPlaying ? texts.pause : texts.play
  return (
    <span className={styles.play}>
      <ActionIcon variant="light" radius="xl" aria-label={label} title={label} onClick={toggle}>
        {isPlaying ? <IconPlayerPauseFilled size={16} /> : <IconPlayerPlayFilled size={16} />}
      </ActionIcon>
      <span className={styles.bars} aria-hidden="true">
        {heights.map((height, n) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: bars have no ids
            key={n}
            data-heard={n < share * heights.length || undefined}
            style={{ height: `${Math.max(2, Math.round((26 * height) / 100))}px` }}
          />
        ))}
      </span>
    </span>
  )
}
