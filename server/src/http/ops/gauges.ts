import { withTimeout } from '../../base/async/timeout.ts'
import type { Clock } from '../../base/clock.ts'

/** What is looked up when somebody asks for the metrics, rather than counted as it happens. */
export interface GaugeSource {
  clock: Clock
  gauges: readonly GaugeInfo[]
  /** Of this process, at no cost. */
  own(): Sample[]
  /** Of the database; asked once in 10 seconds at most. */
  stored(): Promise<Sample[]>
  /** Told when the database's could not be had. */
  failed(error: unknown): void
}

export interface GaugeInfo {
  name: string
  help: string
  labelNames: string[]
}

export interface Sample {
  name: string
  labels?: Record<string, string>
  value: number
}

interface Settable {
  reset(): void
  remove(): void
  set(labels: Record<string, string>, value: number): void
}

const freshForMs = 10_000
const maxWaitMs = 2_000

/**
 * Makes the gauges and returns how to bring them up to date. Gauges whose values cannot be had vanish from the page:
 * an old figure would look like a calm one.
 */
export function gaugeReader(source: GaugeSource, make: (gauge: GaugeInfo) => Settable): () => Promise<void> {
  const gauges = new Map(source.gauges.map((gauge) => [gauge.name, make(gauge)]))
  const stored = remembered(source)
  return async () => {
    const samples = [...source.own(), ...(await stored())]
    for (const { name, labelNames } of source.gauges) {
      // Without labels a reset gauge would say 0.
      if (labelNames.length === 0) gauges.get(name)?.remove()
      else gauges.get(name)?.reset()
    }
    for (const { name, labels = {}, value } of samples) gauges.get(name)?.set(labels, value)
  }
}

function remembered({ clock, stored, failed }: GaugeSource): () => Promise<Sample[]> {
  let askedAt = Number.NaN
  let answer: Promise<Sample[]> | undefined
  return () => {
    const now = clock.now().getTime()
    // A clock may be set back: then what is remembered is of no known age.
    const isFresh = now >= askedAt && now - askedAt < freshForMs
    if (answer === undefined || !isFresh) {
      askedAt = now
      answer = withTimeout(maxWaitMs, stored).catch((error: unknown) => {
        failed(error)
        return []
      })
    }
    return answer
  }
}
