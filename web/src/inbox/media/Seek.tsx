import { t } from '../../text/index.ts'
import { formatPlaybackTime } from '../../ui/format/size.ts'
import styles from './AudioMessage.module.css'
import { barsOf } from './media-rules.ts'
import { type PlaybackState, seek, type Track } from './player.ts'

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
