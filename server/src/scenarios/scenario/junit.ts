import { lineOf, type Outcome } from './compare-runs.ts'

/** Returns the results as JUnit XML, which CI systems show. */
export function junitOf(agent: string, outcomes: readonly (Outcome & { ms: number })[]): string {
  const count = (verdict: Outcome['verdict']) => outcomes.filter((one) => one.verdict === verdict).length
  const seconds = (ms: number) => (ms / 1000).toFixed(3)
  const total = outcomes.reduce((sum, { ms }) => sum + ms, 0)
  const cases = outcomes.map(({ name, verdict, checks, entries, ms }) => {
    const unmet = checks.filter(({ passed }) => !passed)
    const lines = [
      ...unmet.map(({ check, expected, actual }) => `${check}: expected ${expected}; found ${actual || 'nothing'}`),
      '',
      ...entries.map(lineOf),
    ]
    const element = verdict === 'error' ? 'error' : 'failure'
    const [first] = unmet
    const message = first === undefined ? '' : `${first.check}: expected ${first.expected}`
    const inside =
      verdict === 'passed'
        ? ''
        : `<${element} message="${escapeXml(message)}">${escapeXml(lines.join('\n'))}</${element}>`
    return `    <testcase classname="${escapeXml(agent)}" name="${escapeXml(name)}" time="${seconds(ms)}">${inside}</testcase>`
  })
  const counts = `tests="${outcomes.length}" failures="${count('failed')}" errors="${count('error')}" time="${seconds(total)}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${escapeXml(agent)}" ${counts}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }

// XML 1.0 has no control characters except tab and line breaks.
const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
