/** Semantic colors; `c1` to `c8` for categories without one. */
export type ChartTone = 'accent' | 'agent' | 'good' | 'attention' | 'bad' | `c${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8}`

export interface Series {
  label: string
  tone: ChartTone
  /** One for each point; null if there is no value. */
  values: readonly (number | null)[]
  /** Distinguishes a line without color. */
  isDashed?: boolean
}

export interface Point {
  key: string
  /** Label below the axis, at most about 8 characters. */
  short: string
  /** Label in the table and the tooltip. */
  full: string
}

export interface ChartProps {
  /** Title of the chart. */
  label: string
  points: readonly Point[]
  series: readonly Series[]
  /** Formats a value with its unit. */
  format: (value: number) => string
  /** Ticks are multiples of this, such as a minute in milliseconds. */
  unit?: number
  height?: number
}
