import { say } from './terminal.ts'

const barWidth = 24
const everyMs = 5_000

export interface Progress {
  /** Between 0 and 1, and what to say beside it. */
  show(share: number, words: string): void
  end(): void
}

/** A bar that moves in place on a terminal; elsewhere a line now and then. */
export function openProgress(): Progress {
  const { stderr } = process
  if (stderr.isTTY) {
    return {
      show: (share, words) => {
        const done = Math.round(Math.min(share, 1) * barWidth)
        stderr.write(`\r\x1b[K[${'='.repeat(done)}${' '.repeat(barWidth - done)}] ${words}`)
      },
      end: () => void stderr.write('\n'),
    }
  }
  let saidAt = Number.NEGATIVE_INFINITY
  return {
    show: (share, words) => {
      if (performance.now() - saidAt < everyMs) return
      saidAt = performance.now()
      say(`${Math.floor(share * 100)} % ${words}`)
    },
    end: () => {},
  }
}
