/** Number of bars of a voice message. */
const maxBars = 64

/** Returns the bars of a voice message, from 0 to 100, for levels from 0 to 1. */
export function waveformOf(levels: readonly number[]): number[] {
  if (levels.length === 0) return []
  const count = Math.min(maxBars, levels.length)
  const peaks = Array.from({ length: count }, (_, n) => {
    const part = levels.slice(Math.floor((n * levels.length) / count), Math.floor(((n + 1) * levels.length) / count))
    return Math.max(...part)
  })
  // Normalized, so that quiet voices have a visible waveform.
  const loudest = Math.max(...peaks, 0.05)
  return peaks.map((peak) => Math.round((100 * Math.max(0, peak)) / loudest))
}
