import type { Check, Entry } from './recorded-run.ts'

/** How a scenario ended; `error`: it could not be played. */
export type Verdict = 'passed' | 'failed' | 'error'

/** The result of one scenario in a run. */
export interface Outcome {
  name: string
  verdict: Verdict
  checks: Check[]
  entries: Entry[]
}

/** What is different from the run before. */
export interface Difference {
  /** Verdict of the run before; null: the scenario was not in it. */
  before: Verdict | null
  /** Expectations that were met before and no longer are, and the reverse. */
  broken: string[]
  fixed: string[]
  /** Lines of the conversation, marked as in a text diff; empty: it is the same. */
  lines: { mark: '+' | '-' | ' '; text: string }[]
}

export const verdictOf = (checks: readonly Check[]): Verdict => {
  if (checks.some((one) => one.check === 'played' && !one.passed)) return 'error'
  return checks.every(({ passed }) => passed) ? 'passed' : 'failed'
}

/** Compares a result with that of the run before. Times are not compared. */
export function compareOutcomes(before: Outcome | null, after: Outcome): Difference {
  if (before === null) return { before: null, broken: [], fixed: [], lines: [] }
  const unmet = ({ checks }: Outcome) => new Set(checks.flatMap((one) => (one.passed ? [] : textOf(one))))
  const [was, is] = [unmet(before), unmet(after)]
  return {
    before: before.verdict,
    broken: [...is].filter((one) => !was.has(one)),
    fixed: [...was].filter((one) => !is.has(one)),
    lines: compareLines(before.entries.map(lineOf), after.entries.map(lineOf)),
  }
}

const textOf = ({ check, expected }: Check): string => `${check}: ${expected}`
export const lineOf = ({ from, kind, text }: Entry): string =>
  `${from}${kind === 'message' ? '' : ` (${kind})`}: ${text}`

/** Longest common subsequence; the number of entries is bounded, and with it the table. */
const maxLines = 400

function compareLines(old: readonly string[], now: readonly string[]): Difference['lines'] {
  const a = old.slice(0, maxLines)
  const b = now.slice(0, maxLines)
  if (a.length === b.length && a.every((line, n) => line === b[n])) return []
  const width = b.length + 1
  const lengths = new Uint16Array((a.length + 1) * width)
  const lengthAt = (i: number, j: number): number => lengths[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const isSame = a[i] === b[j]
      lengths[i * width + j] = isSame ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1))
    }
  }
  const lines: Difference['lines'] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]]
    if (left !== undefined && left === right) {
      lines.push({ mark: ' ', text: left })
      i++
      j++
    } else if (right !== undefined && (left === undefined || lengthAt(i, j + 1) > lengthAt(i + 1, j))) {
      lines.push({ mark: '+', text: right })
      j++
    } else {
      lines.push({ mark: '-', text: left ?? '' })
      i++
    }
  }
  return lines
}
