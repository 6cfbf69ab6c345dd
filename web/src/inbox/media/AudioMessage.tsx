import {
  IconAlertCircle,
  IconMicrophone,
  IconMusic,
  IconPlayerPauseFilled,
  IconPlayerPlayFilled,
} from '@tabler/icons-react'
import type { Media } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { formatPlaybackTime } from '../../ui/format/size.ts'
import styles from './AudioMessage.module.css'
import { nextSpeed, type PlaybackState, type Track, toggle, usePlayerOf } from './player.ts'
import { Seek } from './Seek.tsx'

/** Plays a voice note or audio file in place. */
export function AudioMessage({ media, track }: { media: Media; track: Track }) {
  const playing = usePlayerOf(media.id)
  const Icon = media.kind === 'voice' ? IconMicrophone : IconMusic
  return (
    <span className={styles.sound}>
      <PlayButton track={track} playing={playing} />
      <span className={styles.body}>
        {media.name !== null && media.kind !== 'voice' && <bdi className={styles.name}>{media.name}</bdi>}
        <Seek track={track} playing={playing} waveform={media.waveform} />
        <span className={styles.foot}>
          <Icon size={13} aria-hidden="true" />
          <AudioTime seconds={media.seconds} playing={playing} />
          {playing?.hasFailed && (
            <span className={styles.failed} role="status">
              <IconAlertCircle size={13} aria-hidden="true" />
              {t.media.states.unloaded}
            </span>
          )}
        </span>
      </span>
      {playing !== null && <SpeedButton speed={playing.speed} />}
    </span>
  )
}

export function PlayButton({ track, playing }: { track: Track; playing: PlaybackState | null }) {
  const isPlaying = playing?.isPlaying ?? false
  const Icon = isPlaying ? IconPlayerPauseFilled : IconPlayerPlayFilled
  const word = isPlaying ? t.media.pause : t.media.play
  return (
    <button
      type="button"
      className={styles.play}
      aria-label={`${word}: ${track.title}`}
      title={word}
      onClick={() => toggle(track)}
    >
      <Icon size={18} aria-hidden="true" />
    </button>
  )
}

/** Total duration, then the position while playing. */
export function AudioTime({ seconds, playing }: { seconds: number | null; playing: PlaybackState | null }) {
  const length = playing?.length ?? seconds
  const isStarted = playing !== null && (playing.isPlaying || playing.at > 0)
  if (length === null) return <span className={styles.time}>{isStarted ? formatPlaybackTime(playing.at) : '–:––'}</span>
  return (
    <span className={styles.time}>
      {isStarted ? `${formatPlaybackTime(playing.at)} / ${formatPlaybackTime(length)}` : formatPlaybackTime(length)}
    </span>
  )
}

export function SpeedButton({ speed }: Pick<PlaybackState, 'speed'>) {
  const times = `${speed}×`
  return (
    <button
      type="button"
      className={styles.speed}
      aria-label={t.media.speed({ times })}
      title={t.media.speed({ times })}
      onClick={nextSpeed}
    >
      {times}
    </button>
  )
}
