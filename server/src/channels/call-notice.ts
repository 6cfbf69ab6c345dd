/** A call of a customer once it is over, as far as a platform tells. */
export interface EndedCall {
  isVideo: boolean
  outcome: 'answered' | 'missed' | 'declined'
  /** How long it was; null when that is not told. */
  seconds: number | null
}

/**
 * What a call leaves among the messages: a notice of the kind `system` in these words, which the web app says in its
 * reader's language. Nobody wrote it, and nobody is waited for.
 */
export function callNotice({ isVideo, outcome, seconds }: EndedCall): string {
  const call = isVideo ? 'video call' : 'call'
  if (outcome !== 'answered') return `${outcome === 'missed' ? 'Missed' : 'Declined'} ${call}`
  const length = seconds === null || seconds <= 0 ? '' : ` (${clockOf(seconds)})`
  return `${call[0]?.toUpperCase()}${call.slice(1)}${length}`
}

/** As clocks show it: `2:05`, `1:00:09`. */
function clockOf(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60]
  const two = (n: number) => String(n).padStart(2, '0')
  return hours === 0 ? `${minutes}:${two(rest)}` : `${hours}:${two(minutes)}:${two(rest)}`
}
