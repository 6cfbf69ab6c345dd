import { Chart, colorOf, type Plot } from './Chart.tsx'
import type { ChartProps, Series } from './chart-props.ts'

const maxBarWidth = 28

/** Bar chart; several series are stacked. */
export function BarChart(props: ChartProps) {
  return (
    <Chart {...props} isStacked>
      {(plot) => props.points.map(({ key }, n) => <Stack key={key} at={n} series={props.series} plot={plot} />)}
    </Chart>
  )
}

function Stack({ at, series, plot }: { at: number; series: readonly Series[]; plot: Plot }) {
  const width = Math.max(1, Math.min(maxBarWidth, plot.stripWidth * 0.7))
  let below = 0
  return (
    <g>
      {series.map(({ label, tone, values }) => {
        const value = values[at] ?? 0
        if (value === 0) return null
        const y = plot.y(below + value)
        // Non-zero values stay visible, however small.
        const height = Math.max(1.5, plot.y(below) - y)
        below += value
        return (
          <rect
            key={label}
            x={plot.x(at) - width / 2}
            y={y}
            width={width}
            height={height}
            rx={1.5}
            fill={colorOf(tone)}
          />
        )
      })}
    </g>
  )
}
