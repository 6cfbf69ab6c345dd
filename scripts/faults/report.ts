/** Result of a fault test, over one run or several. */
export interface Result {
  name: string
  tries: number
  unit: string
  seconds: number
  findings: number
  /** The cases are always the same, so repetition adds no evidence. */
  hasFixedCases: boolean
}

export interface RunLine {
  when: string
  commit: string
  minutes: number
  tests: number
  findings: number
}

export interface Report {
  version: string
  results: Result[]
  runs: RunLine[]
}

const handWritten = '## What was found'
const head = (version: string) => `# Faults

\`npm run faults -- --minutes 120 --write\` runs fault tests, one after the other, and adds the results to this page. The guarantee behind each name
is in \`scripts/faults/fault-tests.ts\`. A finding is a test that failed, and is never removed: runs of one version add up.

Where none of N tries found anything, the true rate is below 3/N with a probability of 95 %, for tries like these. A dash means that
the cases are the same each time; the largest number in one run is shown.

Version ${version}.
`
const columns = '| test | N | unit | seconds | findings | rate below |\n|---|---:|---|---:|---:|---:|'
const runColumns = '| run | commit | minutes | tests | findings |\n|---|---|---:|---:|---:|'

/** Returns the page; keeps its hand-written part. */
export function writePage({ version, results, runs }: Report, before: string): string {
  const kept = before.includes(handWritten)
    ? before.slice(before.indexOf(handWritten))
    : `${handWritten}\n\nNothing yet.\n`
  const runLines = runs.map(
    ({ when, commit, minutes, tests, findings }) => `| ${when} | ${commit} | ${minutes} | ${tests} | ${findings} |`,
  )
  const sum = results.reduce((all, { seconds }) => all + seconds, 0)
  return [
    head(version),
    tableOf(results),
    '',
    `${(sum / 3600).toFixed(1)} hours in total.`,
    '',
    '## Runs',
    '',
    runColumns,
    ...runLines,
    '',
    kept,
  ].join('\n')
}

/** Returns a Markdown table of results. */
export function tableOf(results: readonly Result[]): string {
  const lines = results.map((one) => {
    const cells = [one.name, grouped(one.tries), one.unit, grouped(Math.round(one.seconds)), one.findings, boundOf(one)]
    return `| ${cells.join(' | ')} |`
  })
  return [columns, ...lines].join('\n')
}

/** Parses the results of the page; returns none if it is about another version. */
export function readPage(page: string, version: string): Report {
  const report: Report = { version, results: [], runs: [] }
  if (!page.includes(`\nVersion ${version}.\n`)) return report
  const end = page.indexOf(handWritten)
  for (const line of page.slice(0, end < 0 ? undefined : end).split('\n')) {
    const cells = line.split('|').map((cell) => cell.trim())
    const [, first = '', second = '', third = '', fourth = '', fifth = '', sixth = ''] = cells
    if (cells.length === 8 && /^[a-z][a-z-]*$/.test(first) && /^[\d,]+$/.test(second)) {
      const [tries = 0, seconds = 0, findings = 0] = [second, fourth, fifth].map(ungrouped)
      report.results.push({ name: first, tries, unit: third, seconds, findings, hasFixedCases: sixth === '–' })
    }
    if (cells.length === 7 && /^\d{4}-/.test(first)) {
      const [minutes = 0, tests = 0, findings = 0] = [third, fourth, fifth].map(ungrouped)
      report.runs.push({ when: first, commit: second, minutes, tests, findings })
    }
  }
  return report
}

/** Adds the results of both, ordered by these names. */
export function mergeReports(before: Report, run: Report, names: readonly string[]): Report {
  const all = [...before.results, ...run.results]
  const results = names.flatMap((name) => {
    const same = all.filter((one) => one.name === name)
    const last = same.at(-1)
    if (last === undefined) return []
    const sum = (of: (one: Result) => number) => same.reduce((total, one) => total + of(one), 0)
    const tries = last.hasFixedCases ? Math.max(...same.map((one) => one.tries)) : sum((one) => one.tries)
    return [{ ...last, tries, seconds: sum((one) => one.seconds), findings: sum((one) => one.findings) }]
  })
  return { version: run.version, results, runs: [...before.runs, ...run.runs] }
}

function boundOf({ tries, findings, hasFixedCases }: Result): string {
  if (hasFixedCases) return '–'
  if (findings > 0) return 'found'
  if (tries === 0) return '–'
  return `${Number((Math.min(1, 3 / tries) * 100).toPrecision(2))} %`
}

function grouped(n: number): string {
  return String(n).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

function ungrouped(text: string): number {
  return Number(text.replaceAll(',', ''))
}
