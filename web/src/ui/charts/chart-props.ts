/** A meaning where there is one; `c1` to `c8` tell kinds apart that mean nothing by themselves. */
export type ChartTone =
  | 'accent'
  | 'agent'
  | 'good'
  | 'attention'
  | 'bad'
  | 'c1'
  | 'c2'
  | 'c3'
  | 'c4'
  | 'c5'
  | 'c6'
  | 'c7'
  | 'c8'

export interface Series {
  label: string
  tone: ChartTone
  /** One for each point; null where there is nothing to show. */
  values: readonly (number | null)[]
  /** Tells a line apart without its colour. */
  isDashed?: boolean
}

export interface Point {
  key: string
  /** Below the axis, at most some eight characters. */
  short: string
  /** In the table and at the pointer. */
  full: string
}

export interface ChartProps {
  /** What is shown, and the title above it. */
  label: string
  points: readonly Point[]
  series: readonly Series[]
  /** A value in words, with its unit. */
  format: (value: number) => string
  /** What the marks of the axis are multiples of, such as a minute of milliseconds. */
  unit?: number
  height?: number
}
