/** Where commands write. */
interface Terminal {
  out(text: string): void
  err(text: string): void
}

let terminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
}

/** Replaces where commands write, and returns the previous terminal. For tests that run commands in their own process. */
export function replaceTerminal(other: Terminal): Terminal {
  const before = terminal
  terminal = other
  return before
}

/** Says something to the person at the terminal. Standard output is left to log lines and to what commands answer. */
export function say(line: string): void {
  terminal.err(`${line}\n`)
}

/** Prints what a command found: one JSON document, or lines for people. */
export function answer(asJson: boolean | undefined, value: unknown, lines: readonly string[]): void {
  terminal.out(asJson ? `${JSON.stringify(value, null, 2)}\n` : lines.map((line) => `${line}\n`).join(''))
}

/** Columns as wide as their widest cell. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  }
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** What went wrong, in words: an operator reads it, who can do nothing with a stack. */
export function describeProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.constructor.name
  const words = error.message || code
  return error.cause === undefined ? words : `${words}\n  because: ${describeProblem(error.cause)}`
}

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
