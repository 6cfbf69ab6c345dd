/** So many heights a voice message has. */
const maxHeights = 64

/** The heights of a voice message, from 0 to 100, of how loud it was from moment to moment, from 0 to 1. */
export function waveformOf(levels: readonly number[]): number[] {
  if (levels.length === 0) return []
  const count = Math.min(maxHeights, levels.length)
  const peaks = Array.from({ length: count }, (_, n) => {
    const part = levels.slice(Math.floor((n * levels.length) / count), Math.floor(((n + 1) * levels.length) / count))
    return Math.max(...part)
  })
  // Whoever speaks softly has a shape as well.
  const loudest = Math.max(...peaks, 0.05)
  return peaks.map((peak) => Math.round((100 * Math.max(0, peak)) / loudest))
}
