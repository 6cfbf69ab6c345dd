import { type Difference, lineOf, type Outcome } from '../../scenarios/scenario/compare-runs.ts'

const marks: Record<string, string> = { passed: '✓', failed: '✗', error: '!' }
const maxLines = 12

/** Returns the lines of one result: for a failed one what was expected, and the end of the conversation. */
export function linesOfOutcome({ name, verdict, checks, entries, ms }: Outcome & { ms: number }): string[] {
  const title = `${marks[verdict] ?? '-'} ${name} (${(ms / 1000).toFixed(1)} s)`
  if (verdict === 'passed') return [title]
  const unmet = checks
    .filter(({ passed }) => !passed)
    .map(({ check, expected, actual }) => `    ${check}: expected ${expected}; found ${actual || 'nothing'}`)
  return [title, ...unmet, ...entries.slice(-maxLines).map((entry) => `      ${lineOf(entry)}`)]
}

/** Returns the summary of a run, and what is different from the one before. */
export function linesOfRun(
  results: readonly (Outcome & { ms: number })[],
  changes: readonly (Difference & { name: string })[],
): string[] {
  const count = (verdict: string) => results.filter((one) => one.verdict === verdict).length
  const others = results.length - count('passed') - count('failed') - count('error')
  const lines = [
    `${count('passed')} passed, ${count('failed')} failed, ${count('error')} could not be played` +
      (others === 0 ? '' : `, ${others} skipped`),
  ]
  const differing = changes.filter(
    ({ before, broken, fixed, lines: text }) =>
      before !== null && (broken.length > 0 || fixed.length > 0 || text.length > 0),
  )
  if (differing.length === 0) return lines
  lines.push('', 'Changed since the run before:')
  for (const { name, broken, fixed, lines: text } of differing) {
    lines.push(`  ${name}`)
    lines.push(...broken.map((one) => `    no longer: ${one}`), ...fixed.map((one) => `    now: ${one}`))
    lines.push(...text.filter(({ mark }) => mark !== ' ').map(({ mark, text: line }) => `    ${mark} ${line}`))
  }
  return lines
}
