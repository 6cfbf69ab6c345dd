/** Output of commands. */
interface Terminal {
  out(text: string): void
  err(text: string): void
}

let terminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
}

/** Replaces the output of commands and returns the previous one. For tests that run commands in their own process. */
export function replaceTerminal(other: Terminal): Terminal {
  const before = terminal
  terminal = other
  return before
}

/** Prints a line for people on standard error. Standard output is for logs and results. */
export function printMessage(line: string): void {
  terminal.err(`${line}\n`)
}

/** Prints the result of a command, as one JSON document or as lines for people. */
export function printResult(asJson: boolean | undefined, value: unknown, lines: readonly string[]): void {
  terminal.out(asJson ? `${JSON.stringify(value, null, 2)}\n` : lines.map((line) => `${line}\n`).join(''))
}

/** Formats rows as columns, each as wide as its widest cell. */
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

/** Describes an error in words, for operators, who cannot use a stack trace. */
export function describeProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.constructor.name
  const words = error.message || code
  return error.cause === undefined ? words : `${words}\n  because: ${describeProblem(error.cause)}`
}

const barWidth = 24
const printEveryMs = 5_000

export interface Progress {
  /** Shows progress between 0 and 1, with a text. */
  show(share: number, words: string): void
  end(): void
}

/** Opens a progress bar that moves in place on a terminal; elsewhere it prints a line every 5 s. */
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
  let printedAt = Number.NEGATIVE_INFINITY
  return {
    show: (share, words) => {
      if (performance.now() - printedAt < printEveryMs) return
      printedAt = performance.now()
      printMessage(`${Math.floor(share * 100)} % ${words}`)
    },
    end: () => {},
  }
}
