import styles from './Chart.module.css'
import { Chart, colorOf } from './Chart.tsx'
import type { ChartProps } from './chart-props.ts'
import { splitAtGaps } from './scale.ts'

/** Line chart with gaps for missing values. */
export function LineChart(props: ChartProps) {
  return (
    <Chart {...props}>
      {({ x, y }) =>
        props.series.map(({ label, tone, values, isDashed }) =>
          splitAtGaps(values).map((piece) =>
            piece.length === 1 ? (
              piece.map(({ at, value }) => (
                <circle key={`${label} ${at}`} cx={x(at)} cy={y(value)} r={3} fill={colorOf(tone)} />
              ))
            ) : (
              <polyline
                key={`${label} ${piece[0]?.at}`}
                className={styles.line}
                data-dashed={isDashed || undefined}
                stroke={colorOf(tone)}
                points={piece.map(({ at, value }) => `${x(at)},${y(value)}`).join(' ')}
              />
            ),
          ),
        )
      }
    </Chart>
  )
}
