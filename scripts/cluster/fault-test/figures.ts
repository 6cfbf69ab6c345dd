/** Returns the nearest-rank percentile; with few values the high percentiles are the maximum. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((share / 100) * sorted.length) - 1)] ?? Number.NaN
}

/** Returns the longest gap between moments, counting only the time between `fromMs` and `toMs`. */
export function longestGapMs(moments: readonly number[], fromMs: number, toMs: number): number {
  const within = moments.filter((at) => at > fromMs && at < toMs).toSorted((a, b) => a - b)
  const ends = [...within, toMs]
  return Math.max(...ends.map((end, n) => end - (ends[n - 1] ?? fromMs)))
}

/** Result of one kind of fault over all rounds. */
export interface CaseResult {
  name: string
  rounds: number
  /** Number of standbys that did not recover by themselves. */
  recopied: number
  acknowledged: { leads: number; changes: number; callbacks: number; sends: number }
  webhooks: { events: number; repeats: number }
  outagesMs: number[]
  notificationMs: number[]
  statuses: Record<string, number>
  /** Broken guarantees. */
  findings: string[]
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1)

export function formatOutages(outagesMs: readonly number[]): string {
  if (outagesMs.length === 0) return '–'
  return [50, 95, 100].map((share) => seconds(percentile(outagesMs, share))).join(' / ')
}

export function formatStatuses(statuses: Record<string, number>): string {
  const entries = Object.entries(statuses).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return entries.map(([status, count]) => `${count.toLocaleString('en')} × ${status}`).join(', ')
}

const columns = [
  'case',
  'rounds',
  'outage s, median / p95 / max',
  'acknowledged: leads, changes, callbacks, sends',
  'webhooks: events (repeats)',
  'responses',
  'notification ms, p50 / p95',
  'findings',
]

/** Returns a Markdown table of all cases. */
export function tableOf(results: readonly CaseResult[]): string {
  const rows = results.map(
    ({ name, rounds, acknowledged, webhooks, outagesMs, notificationMs, statuses, findings }) => [
      name,
      String(rounds),
      formatOutages(outagesMs),
      Object.values(acknowledged)
        .map((count) => count.toLocaleString('en'))
        .join(', '),
      `${webhooks.events.toLocaleString('en')} (${webhooks.repeats.toLocaleString('en')})`,
      formatStatuses(statuses),
      notificationMs.length === 0
        ? '–'
        : `${Math.round(percentile(notificationMs, 50))} / ${Math.round(percentile(notificationMs, 95))}`,
      String(findings.length),
    ],
  )
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(columns), line(columns.map((_, n) => (n === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}
