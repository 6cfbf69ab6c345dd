/** Returns ticks of a value axis from 0: few round numbers, the last not below the highest value. */
export function ticksFor(highest: number, most = 4): number[] {
  if (highest <= 0) return [0, 1]
  const step = roundStep(highest < 1 ? highest / most : Math.max(1, highest / most))
  const count = Math.ceil(highest / step - 1e-9)
  return Array.from({ length: count + 1 }, (_, n) => Number((n * step).toPrecision(12)))
}

/** Returns the next of 1, 2, 2.5, 5, 10, 20, … at or above the value; whole numbers from 1 on. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  const steps = power === 1 ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10]
  return (steps.find((step) => step * power >= least - 1e-12) ?? 10) * power
}

/** Returns the points that get a label below the axis: evenly spaced, including the last, without overlap. */
export function labelledPoints(count: number, width: number, nameWidth: number): ReadonlySet<number> {
  const fit = Math.max(1, Math.floor(width / nameWidth))
  const every = Math.max(1, Math.ceil(count / fit))
  return new Set(Array.from({ length: count }, (_, n) => n).filter((n) => (count - 1 - n) % every === 0))
}

/** Returns the highest stack, or the highest value if not stacked. */
export function highestOf(series: readonly { values: readonly (number | null)[] }[], isStacked: boolean): number {
  const count = Math.max(0, ...series.map(({ values }) => values.length))
  const each = Array.from({ length: count }, (_, n) => series.map(({ values }) => values[n] ?? 0))
  return Math.max(
    0,
    ...each.map((values) => (isStacked ? values.reduce((sum, one) => sum + one, 0) : Math.max(...values))),
  )
}

/** Splits a line at missing values. */
export function splitAtGaps(values: readonly (number | null)[]): { at: number; value: number }[][] {
  const found: { at: number; value: number }[][] = []
  let isOpen = false
  values.forEach((value, at) => {
    if (value !== null && !isOpen) found.push([])
    if (value !== null) found.at(-1)?.push({ at, value })
    isOpen = value !== null
  })
  return found
}
