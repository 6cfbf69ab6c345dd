import type { CpuTime } from './cpu-time.ts'

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const at = (place: number) => sorted[place] ?? Number.NaN
  return (at(Math.floor((sorted.length - 1) / 2)) + at(Math.ceil((sorted.length - 1) / 2))) / 2
}

/** Column title of both values of `CpuTime`. */
export const cpuHead = 'Node + PostgreSQL, µs'

export function medianCpu(times: readonly (CpuTime | null)[]): CpuTime | null {
  const known = times.filter((time) => time !== null)
  if (known.length === 0) return null
  return { node: median(known.map(({ node }) => node)), postgres: median(known.map(({ postgres }) => postgres)) }
}

export const cpuCell = (time: CpuTime | null): string =>
  time === null ? '–' : `${Math.round(time.node)} + ${Math.round(time.postgres)}`

/** Returns the median, with minimum and maximum in brackets. */
export function spreadCell(ratios: readonly number[]): string {
  if (ratios.length === 0) return '–'
  return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`
}
