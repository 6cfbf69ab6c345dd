import { ActionIcon } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { IconChartBar, IconTable } from '@tabler/icons-react'
import { type PointerEvent, type ReactNode, useState } from 'react'
import { t } from '../../text/index.ts'
import { Tip } from '../overlay/Tip.tsx'
import visuallyHidden from '../visually-hidden.module.css'
import styles from './Chart.module.css'
import type { ChartProps, ChartTone, Point, Series } from './chart-props.ts'
import { highestOf, labelledPoints, ticksFor } from './scale.ts'

export interface Plot {
  /** Center of a point's column. */
  x: (at: number) => number
  y: (value: number) => number
  stripWidth: number
}

const letterWidth = 6.5
const minLeft = 20
const bottom = 20
const top = 8
const minNameWidth = 64
const nameGap = 10

export const colorOf = (tone: ChartTone): string => `var(--${tone})`

/** Chart frame: title, legend, axes, tooltip, and the figures as a table. */
export function Chart(props: ChartProps & { isStacked?: boolean; children: (plot: Plot) => ReactNode }) {
  const { label, points, series, format, unit = 1, height = 180, isStacked = false, children } = props
  const { ref, width } = useElementSize()
  const [isTable, setTable] = useState(false)
  const [pointed, setPointed] = useState<number | null>(null)
  const ticks = ticksFor(highestOf(series, isStacked) / unit).map((tick) => tick * unit)
  const left = Math.max(minLeft, ...ticks.map((tick) => format(tick).length * letterWidth + 10))
  const stripWidth = Math.max(0, width - left) / Math.max(1, points.length)
  const plot: Plot = {
    x: (at) => left + (at + 0.5) * stripWidth,
    y: (value) => height - bottom - (value / (ticks.at(-1) ?? 1)) * (height - bottom - top),
    stripWidth,
  }
  const point = (event: PointerEvent<SVGSVGElement>) => {
    const at = Math.floor((event.clientX - event.currentTarget.getBoundingClientRect().left - left) / stripWidth)
    setPointed(at >= 0 && at < points.length ? at : null)
  }
  return (
    <figure className={styles.chart} aria-label={label}>
      <div className={styles.head}>
        <figcaption className={styles.title}>{label}</figcaption>
        <Legend series={series} />
        <TableSwitch label={label} isTable={isTable} change={setTable} />
      </div>
      <ChartTable {...props} isSeen={isTable} />
      {!isTable && (
        <div className={styles.plot} ref={ref} style={{ height }}>
          {width > 0 && (
            <svg height={height} aria-hidden="true" onPointerMove={point} onPointerLeave={() => setPointed(null)}>
              {pointed !== null && (
                <rect
                  className={styles.pointed}
                  x={plot.x(pointed) - stripWidth / 2}
                  y={top}
                  width={stripWidth}
                  height={height - top - bottom}
                />
              )}
              <Axes {...props} height={height} width={width} left={left} ticks={ticks} plot={plot} />
              {children(plot)}
            </svg>
          )}
          {pointed !== null && (
            <PointText
              point={points[pointed]}
              at={pointed}
              x={plot.x(pointed)}
              width={width}
              series={series}
              format={format}
            />
          )}
        </div>
      )}
    </figure>
  )
}

interface AxesProps extends ChartProps {
  height: number
  width: number
  /** Left edge of the plot, after the tick labels. */
  left: number
  ticks: readonly number[]
  plot: Plot
}

function Axes({ points, format, height, width, left, ticks, plot }: AxesProps) {
  const longest = Math.max(0, ...points.map(({ short }) => short.length * letterWidth))
  const named = labelledPoints(points.length, width - left, Math.max(minNameWidth, longest + nameGap))
  const halfOf = (n: number) => ((points[n]?.short.length ?? 0) * letterWidth) / 2
  const nameAt = (n: number) => Math.min(plot.x(n), width - halfOf(n))
  const last = points.length - 1
  // The last name is moved to fit, and may reach the one before.
  const isShown = (n: number) =>
    named.has(n) && (n === last || nameAt(n) + halfOf(n) + 2 <= nameAt(last) - halfOf(last))
  return (
    <g>
      {ticks.map((tick, n) => (
        <g key={tick}>
          <line
            className={n === 0 ? styles.base : styles.grid}
            x1={left}
            x2={width}
            y1={plot.y(tick)}
            y2={plot.y(tick)}
          />
          <text x={left - 6} y={plot.y(tick) + 4} textAnchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
      {points.map(({ key, short }, n) =>
        isShown(n) ? (
          <text key={key} x={nameAt(n)} y={height - 4} textAnchor="middle">
            {short}
          </text>
        ) : null,
      )}
    </g>
  )
}

function Legend({ series }: Pick<ChartProps, 'series'>) {
  if (series.length < 2) return null
  return (
    <div className={styles.legend} aria-hidden="true">
      {series.map((one) => (
        <SeriesName key={one.label} series={one} />
      ))}
    </div>
  )
}

function SeriesName({ series: { label, tone, isDashed } }: { series: Series }) {
  return (
    <span className={styles.name}>
      <span className={styles.swatch} data-dashed={isDashed || undefined} style={{ background: colorOf(tone) }} />
      {label}
    </span>
  )
}

interface PointTextProps extends Pick<ChartProps, 'series' | 'format'> {
  point: Point | undefined
  at: number
  x: number
  width: number
}

function PointText({ point, at, x, width, series, format }: PointTextProps) {
  const side = x > width / 2 ? { right: width - x + 12 } : { left: x + 12 }
  return (
    <div className={styles.tip} style={side} aria-hidden="true">
      <strong>{point?.full}</strong>
      {series.map((one) => {
        const value = one.values[at] ?? null
        return (
          <span key={one.label} className={styles.value}>
            <SeriesName series={one} />
            {value === null ? '–' : format(value)}
          </span>
        )
      })}
    </div>
  )
}

function TableSwitch({ label, isTable, change }: { label: string; isTable: boolean; change(to: boolean): void }) {
  const words = isTable ? t.charts.asChart : t.charts.asTable
  return (
    <Tip label={words}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={`${label}: ${words}`}
        onClick={() => change(!isTable)}
      >
        {isTable ? <IconChartBar size={16} /> : <IconTable size={16} />}
      </ActionIcon>
    </Tip>
  )
}

/** Figures of a chart as a table: always for screen readers, for others on request. */
function ChartTable({ label, points, series, format, isSeen }: ChartProps & { isSeen: boolean }) {
  return (
    // A scroll area must be scrollable by keyboard.
    <div className={isSeen ? styles.scroll : visuallyHidden.hidden} {...(isSeen && { tabIndex: 0 })}>
      <table className={styles.table} aria-label={label}>
        <thead>
          <tr>
            <th scope="col">{t.charts.when}</th>
            {series.map((one) => (
              <th key={one.label} scope="col">
                {one.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.map(({ key, full }, n) => (
            <tr key={key}>
              <th scope="row">{full}</th>
              {series.map((one) => {
                const value = one.values[n] ?? null
                return <td key={one.label}>{value === null ? '–' : format(value)}</td>
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
