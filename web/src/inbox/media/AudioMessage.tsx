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
import { barsOf } from './media-rules.ts'
import { nextSpeed, type PlaybackState, seek, type Track, toggle, usePlayerOf } from './player.ts'

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

interface SeekProps {
  track: Track
  playing: PlaybackState | null
  waveform: readonly number[] | null
}

const barCount = 48
// Arrow key steps from start to end.
const keySteps = 40
const [barPx, gapPx, highPx] = [3, 1.5, 26]

/** Position of the audio, changed by click or arrow keys: a waveform if there is one, otherwise a line. */
export function Seek({ track, playing, waveform }: SeekProps) {
  const length = playing?.length ?? track.seconds ?? 0
  const at = Math.min(playing?.at ?? 0, length)
  const share = length === 0 ? 0 : at / length
  return (
    <span className={styles.seek} data-line={waveform === null || undefined}>
      {waveform === null ? (
        <span className={styles.line}>
          <span style={{ width: `${share * 100}%` }} />
        </span>
      ) : (
        <Bars heights={barsOf(waveform, barCount)} share={share} />
      )}
      <input
        type="range"
        min={0}
        max={length}
        step={Math.max(0.1, length / keySteps)}
        value={at}
        disabled={length === 0}
        aria-label={t.media.position}
        aria-valuetext={t.media.positionOf({ at: formatPlaybackTime(at), length: formatPlaybackTime(length) })}
        onChange={({ currentTarget }) => seek(track, Number(currentTarget.value))}
      />
    </span>
  )
}

function Bars({ heights, share }: { heights: readonly number[]; share: number }) {
  const width = heights.length * (barPx + gapPx) - gapPx
  return (
    <svg viewBox={`0 0 ${width} ${highPx}`} preserveAspectRatio="none" aria-hidden="true">
      {heights.map((height, n) => {
        const high = Math.max(2, (highPx * height) / 100)
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: bars have no ids
            key={n}
            x={n * (barPx + gapPx)}
            y={(highPx - high) / 2}
            width={barPx}
            height={high}
            rx={barPx / 2}
            data-heard={n < share * heights.length || undefined}
          />
        )
      })}
    </svg>
  )
}
