import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/db.ts'
import { listPeriods } from '../base/partitions.ts'
import { activeStates, readBroadcastCounts } from '../broadcasts/broadcast.ts'
import { countNumbers } from '../channels/connection/queries.ts'
import { qualities } from '../channels/health/number-status.ts'
import { sessionStates } from '../channels/unofficial/session/session.ts'
import { countSessions } from '../channels/unofficial/session/session-queries.ts'
import { eventPartitions } from '../events/retention.ts'
import { readUnsequenced } from '../events/sequence.ts'
import type { GaugeInfo, GaugeSource, Sample } from '../http/monitoring/metrics.ts'
import { budgetScopes } from '../inbox/budgets/budget.ts'
import { readLargestUse } from '../inbox/budgets/budget-queries.ts'
import { readMailBacklog } from '../mail/mails.ts'
import { readWebhookBacklog } from '../webhooks/endpoint/queue-status.ts'
import type { Runtime } from './runtime.ts'

const gauge = (name: string, help: string, ...labelNames: string[]): GaugeInfo => ({ name, help, labelNames })

const gauges = [
  gauge('parley_db_connections_max', 'Maximum number of database connections of this process.'),
  gauge('parley_db_transactions', 'Transactions and statements with a connection, and waiting for one.', 'state'),
  gauge('parley_db_refused', 'Requests answered 503 since the start because too many of their workspace were waiting.'),
  gauge('parley_events_unsequenced', 'Events not yet in a feed, counted up to 10,000.'),
  gauge('parley_events_unsequenced_oldest_seconds', 'Age of the oldest event not yet in a feed; 0 if there is none.'),
  gauge(
    'parley_events_partitions_ahead_seconds',
    'Time until the last partition of the events table ends; 0 if events go to the default partition.',
  ),
  gauge('parley_webhook_endpoints', 'Active endpoints; failing means 5 consecutive failures.', 'health'),
  gauge('parley_webhook_endpoints_behind', 'Endpoints that have not read the feed to its end.', 'health'),
  gauge('parley_webhook_queue_oldest_seconds', 'Age of the oldest event that an endpoint has not read.', 'health'),
  gauge('parley_webhook_overdue_seconds', 'Time since the oldest overdue retry was due.', 'health'),
  gauge('parley_numbers', 'Connected numbers by the quality that the platform reports.', 'quality'),
  gauge('parley_numbers_blocked', 'Connected numbers that the platform does not let send.'),
  gauge(
    'parley_budget_use_ratio',
    'Largest used part of a budget in its current period, by what it limits; 1 is all of it.',
    'scope',
  ),
  gauge('parley_mails_waiting', 'Mails that are not sent yet, counted up to 10,000.'),
  gauge('parley_mails_oldest_seconds', 'Age of the oldest mail that is not sent yet; 0 if there is none.'),
  gauge('parley_sequences_overdue_seconds', 'Time since the oldest due step of a sequence was due.'),
  gauge('parley_sessions', 'QR sessions; unheld means that no worker holds the lease.', 'state'),
  gauge('parley_broadcasts', 'Broadcasts in progress.', 'state'),
]

/** Returns the metrics that `/metrics` looks up rather than counts. Database metrics are the same in every process. */
export function gaugesOf(
  { db, clock, log }: Pick<Runtime, 'db' | 'clock' | 'log'>,
  maxConnections: number,
): GaugeSource {
  return {
    clock,
    gauges,
    own: () => {
      const { open, waiting, refused } = db.load()
      return [
        { name: 'parley_db_connections_max', value: maxConnections },
        { name: 'parley_db_transactions', labels: { state: 'open' }, value: open },
        { name: 'parley_db_transactions', labels: { state: 'waiting' }, value: waiting },
        { name: 'parley_db_refused', value: refused },
      ]
    },
    stored: async () =>
      (
        await Promise.all([
          eventSamples(db, clock),
          webhookSamples(db, clock),
          numberSamples(db),
          budgetSamples(db, clock),
          mailSamples(db, clock),
          sessionSamples(db),
          broadcastSamples(db),
          sequenceSamples(db, clock),
        ])
      ).flat(),
    onError: (error) => log.warn('failed to read gauge metrics from the database', {}, error),
  }
}

async function eventSamples(db: Db, clock: Clock): Promise<Sample[]> {
  const { count, oldestAt } = await readUnsequenced(db.sql)
  const parts = await listPeriods(db.sql, eventPartitions.table)
  return [
    { name: 'parley_events_partitions_ahead_seconds', value: secondsUntil(parts.at(-1)?.to, clock) },
    { name: 'parley_events_unsequenced', value: count },
    { name: 'parley_events_unsequenced_oldest_seconds', value: secondsSince(oldestAt, clock) },
  ]
}

async function webhookSamples(db: Db, clock: Clock): Promise<Sample[]> {
  const found = await readWebhookBacklog(db.sql)
  return [false, true].flatMap((isFailing) => {
    const labels = { health: isFailing ? 'failing' : 'healthy' }
    const waiting = found.find((one) => one.isFailing === isFailing)
    return [
      { name: 'parley_webhook_endpoints', labels, value: waiting?.endpoints ?? 0 },
      { name: 'parley_webhook_endpoints_behind', labels, value: waiting?.behind ?? 0 },
      { name: 'parley_webhook_queue_oldest_seconds', labels, value: secondsSince(waiting?.oldestAt, clock) },
      { name: 'parley_webhook_overdue_seconds', labels, value: secondsSince(waiting?.dueAt, clock) },
    ]
  })
}

async function numberSamples(db: Db): Promise<Sample[]> {
  const found = await countNumbers(db.sql)
  const sum = (some: typeof found) => some.reduce((total, { count }) => total + count, 0)
  return [
    ...[...qualities, null].map((quality) => ({
      name: 'parley_numbers',
      labels: { quality: quality ?? 'unknown' },
      value: sum(found.filter((one) => one.quality === quality)),
    })),
    { name: 'parley_numbers_blocked', value: sum(found.filter(({ isBlocked }) => isBlocked)) },
  ]
}

async function budgetSamples(db: Db, clock: Clock): Promise<Sample[]> {
  const found = await readLargestUse(db.sql, clock.now())
  return samplesOf('parley_budget_use_ratio', 'scope', budgetScopes, (scope) => found.get(scope))
}

async function mailSamples(db: Db, clock: Clock): Promise<Sample[]> {
  const { waiting, oldestAt } = await readMailBacklog(db.sql)
  return [
    { name: 'parley_mails_waiting', value: waiting },
    { name: 'parley_mails_oldest_seconds', value: secondsSince(oldestAt, clock) },
  ]
}

async function sessionSamples(db: Db): Promise<Sample[]> {
  const found = await countSessions(db.sql)
  const states = [...sessionStates, 'unheld']
  return samplesOf('parley_sessions', 'state', states, (state) => found.find((one) => one.state === state)?.count)
}

async function broadcastSamples(db: Db): Promise<Sample[]> {
  const found = await readBroadcastCounts(db.sql)
  const countOf = (state: string) => found.find((one) => one.state === state)?.count
  return samplesOf('parley_broadcasts', 'state', activeStates, countOf)
}

/** Returns a sample for each value of a label, 0 where none is known. */
const samplesOf = <L extends string>(
  name: string,
  label: string,
  values: readonly L[],
  find: (value: L) => number | undefined,
): Sample[] => values.map((value) => ({ name, labels: { [label]: value }, value: find(value) ?? 0 }))

async function sequenceSamples(db: Db, clock: Clock): Promise<Sample[]> {
  const [row] = await db.sql<{ at: Date | null }[]>`
    select min(next_at) as at
    from sequence_runs`
  return [{ name: 'parley_sequences_overdue_seconds', value: secondsSince(row?.at, clock) }]
}

function secondsSince(time: Date | null | undefined, clock: Clock): number {
  return time == null ? 0 : Math.max(0, (clock.now().getTime() - time.getTime()) / 1000)
}

function secondsUntil(time: Date | undefined, clock: Clock): number {
  return time === undefined ? 0 : Math.max(0, (time.getTime() - clock.now().getTime()) / 1000)
}
