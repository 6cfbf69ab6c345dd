import type { FastifyRequest } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { withTimeout } from '../../base/async/loop.ts'
import type { Clock } from '../../base/clock.ts'
import type { App } from '../../base/route.ts'
import { version } from '../../base/version.ts'
import type { WebhookObserver } from '../../webhooks/deliver/queue.ts'

/**
 * Counters of this process, for Prometheus. Modules below get a single function each. No label is a value of a caller
 * or a workspace id, because labels must have few values.
 */
export interface Metrics {
  /** Records a response; `route` is the route's pattern, undefined for an unknown address. */
  request: (method: string, route: string | undefined, status: number, ms: number) => void
  /** Records a call that sends one part of a message to a platform. */
  sent: (channel: string, outcome: string, ms: number) => void
  /** Records an inbound item after it is stored. */
  received: (channel: string, type: string) => void
  /** Records a price that a platform reported for a message. */
  priced: (channel: string, category: string, type: string) => void
  /** Records a fetch of a file; `result` is its new state, `coming` if it will be retried, or an error of the store. */
  fetched: (result: string, ms: number) => void
  webhooks: WebhookObserver
  job: (name: string, result: 'done' | 'failed', ms: number) => void
  /** Records a service-level goal that was missed. */
  missedGoal: (goal: string) => void
  /** Records a mail that was taken by the mail server, or given up. */
  mailed: (result: string) => void
  /** Records a run of an automation rule that has ended. */
  automationRun: (result: string) => void
  /** Returns all metrics in the Prometheus format. */
  render(): Promise<string>
  /** Returns all metrics as data, for other exporters. */
  collect(): Promise<Metric[]>
}

/** A metric with its series; a histogram has a series for each bucket, for the sum and for the count. */
export interface Metric {
  name: string
  help: string
  type: string
  values: { metricName?: string; labels: Record<string, string | number>; value: number }[]
}

const metricsType = Registry.PROMETHEUS_CONTENT_TYPE

const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const callSeconds = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
const delaySeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300]
const jobSeconds = [0.001, 0.01, 0.1, 1, 10, 60, 600]

/** Creates the metrics in a registry of their own; the library's global one is shared by all apps of a process. */
export function createMetrics(source: GaugeSource): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'parley_build_info',
    help: 'Always 1; labels have the versions.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version, node: process.versions.node }, 1)
  const readGauges = gaugeReader(source, (gauge) => new Gauge({ ...gauge, registers }))

  const own = createMeters(registers)
  const { count, measure } = own
  const requests = count('parley_http_requests_total', 'HTTP responses.', 'method', 'route', 'status')
  const requestTime = measure(
    'parley_http_request_seconds',
    'Time from request to response; long polls and live streams include the wait.',
    requestSeconds,
    'method',
    'route',
  )
  const sends = count('parley_sends_total', 'Platform calls that send one part of a message.', 'channel', 'outcome')
  const sendTime = measure('parley_send_seconds', 'Duration of platform calls for one part.', callSeconds, 'channel')
  const files = count('parley_files_total', 'Attempts to fetch files of messages.', 'result')
  const fileTime = measure(
    'parley_file_seconds',
    'Duration of fetch attempts, including the preview.',
    jobSeconds,
    'result',
  )
  const jobs = count('parley_scheduled_jobs_total', 'Runs of scheduled jobs.', 'job', 'result')
  const missedGoals = count('parley_missed_goals_total', 'Service-level goals that were missed.', 'goal')
  const runs = count('parley_automation_runs_total', 'Runs of automation rules that have ended.', 'result')
  const mails = count('parley_mails_total', 'Mails that have ended: sent, refused, or expired.', 'result')
  const jobTime = measure('parley_scheduled_job_seconds', 'Duration of scheduled jobs.', jobSeconds, 'job')

  return {
    request: (method, route = 'none', status, ms) => {
      requests.inc({ method, route, status })
      requestTime.observe({ method, route }, ms / 1000)
    },
    sent: (channel, outcome, ms) => {
      sends.inc({ channel, outcome })
      sendTime.observe({ channel }, ms / 1000)
    },
    ...inboundCounters(own),
    fetched: (result, ms) => {
      files.inc({ result })
      fileTime.observe({ result }, ms / 1000)
    },
    webhooks: webhookObserver(own),
    job: (job, result, ms) => {
      jobs.inc({ job, result })
      jobTime.observe({ job }, ms / 1000)
    },
    missedGoal: (goal) => missedGoals.inc({ goal }),
    mailed: (result) => mails.inc({ result }),
    automationRun: (result) => runs.inc({ result }),
    render: async () => {
      await readGauges()
      return registry.metrics()
    },
    collect: async () => {
      await readGauges()
      return (await registry.getMetricsAsJSON()) as unknown as Metric[]
    },
  }
}

/** Serves `/metrics`; `admit` authorizes the request. */
export function serveMetrics(app: App, metrics: Metrics, authorize: (request: FastifyRequest) => Promise<void>): void {
  app.get('/metrics', { onRequest: authorize, schema: { hide: true } }, async (_request, reply) =>
    reply.type(metricsType).send(await metrics.render()),
  )
}

function createMeters(registers: Registry[]) {
  return {
    count: <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Counter({ name, help, labelNames, registers }),
    measure: <L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
  }
}

function inboundCounters({ count }: ReturnType<typeof createMeters>): Pick<Metrics, 'received' | 'priced'> {
  const items = count(
    'parley_received_total',
    'Stored inbound items of platforms, including repeats.',
    'channel',
    'type',
  )
  const prices = count(
    'parley_prices_total',
    'Prices that platforms reported for messages, including repeats.',
    'channel',
    'category',
    'type',
  )
  return {
    received: (channel, type) => items.inc({ channel, type }),
    priced: (channel, category, type) => prices.inc({ channel, category, type }),
  }
}

function webhookObserver({ count, measure }: ReturnType<typeof createMeters>): WebhookObserver {
  const attempts = count(
    'parley_webhook_attempts_total',
    'Webhook attempts: delivered, failed, or given up after the last retry; `error` has the reason.',
    'result',
    'error',
  )
  const time = measure('parley_webhook_attempt_seconds', 'Response time of receivers.', callSeconds)
  const delay = measure(
    'parley_webhook_delay_seconds',
    'Time from the event to a successful first attempt.',
    delaySeconds,
  )
  const disabled = count(
    'parley_webhook_endpoints_disabled_total',
    'Endpoints disabled as gone or failing for five days.',
  )
  return {
    delivered: ({ ms, delayMs }) => {
      attempts.inc({ result: 'delivered', error: '' })
      time.observe(ms / 1000)
      if (delayMs !== null) delay.observe(delayMs / 1000)
    },
    failed: ({ ms, error, isFinal }) => {
      attempts.inc({ result: isFinal ? 'given_up' : 'failed', error: error ?? 'status' })
      time.observe(ms / 1000)
    },
    disabled: () => disabled.inc(),
  }
}

/** Gauges that are read when the metrics are requested, rather than counted. */
export interface GaugeSource {
  clock: Clock
  gauges: readonly GaugeInfo[]
  /** Returns values of this process, at no cost. */
  own(): Sample[]
  /** Returns values from the database; called at most once per 10 seconds. */
  stored(): Promise<Sample[]>
  /** Called if the values from the database cannot be read. */
  onError(error: unknown): void
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
 * Creates the gauges and returns a function that updates them. Removes gauges whose values cannot be read, because an
 * outdated value looks like a normal one.
 */
function gaugeReader(source: GaugeSource, make: (gauge: GaugeInfo) => Settable): () => Promise<void> {
  const gauges = new Map(source.gauges.map((gauge) => [gauge.name, make(gauge)]))
  const stored = cacheSamples(source)
  return async () => {
    const samples = [...source.own(), ...(await stored())]
    for (const { name, labelNames } of source.gauges) {
      // A reset gauge without labels reports 0.
      if (labelNames.length === 0) gauges.get(name)?.remove()
      else gauges.get(name)?.reset()
    }
    for (const { name, labels = {}, value } of samples) gauges.get(name)?.set(labels, value)
  }
}

function cacheSamples({ clock, stored, onError }: GaugeSource): () => Promise<Sample[]> {
  let readAt = Number.NaN
  let cachedSamples: Promise<Sample[]> | undefined
  return () => {
    const now = clock.now().getTime()
    // The clock can be set back; the age of the cached values is unknown then.
    const isFresh = now >= readAt && now - readAt < freshForMs
    if (cachedSamples === undefined || !isFresh) {
      readAt = now
      cachedSamples = withTimeout(maxWaitMs, stored).catch((error: unknown) => {
        onError(error)
        return []
      })
    }
    return cachedSamples
  }
}
