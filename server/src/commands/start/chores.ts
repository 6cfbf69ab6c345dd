import { sweepSignIns } from '../../access/sign-in/sessions.ts'
import { eraseQuiet, erasureDeps, removeOld } from '../../app/erasure.ts'
import { connectorsOf, templateDeps } from '../../app/inbox.ts'
import { pushDeps } from '../../app/notices.ts'
import type { Runtime } from '../../app/runtime.ts'
import { keyedTables } from '../../app/tables.ts'
import { type Loop, repeatAtPauses } from '../../base/async/loop.ts'
import { type Chore, createChores } from '../../base/chores.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { Db, Sql } from '../../base/db.ts'
import type { DueWatch } from '../../base/news.ts'
import { makeAhead } from '../../base/partitions.ts'
import { tellOutages, watchOutages } from '../../channels/health/health.ts'
import { syncDueTemplates } from '../../channels/templates/sync-templates.ts'
import { watchTemplates } from '../../channels/templates/template-schedule.ts'
import { forgetOldSends } from '../../channels/unofficial/send/sends.ts'
import { finishErasures, watchErasures } from '../../erasure/run.ts'
import { recordedTopic } from '../../events/record.ts'
import { eventsByTime, removeOldEvents } from '../../events/retention.ts'
import { placeQuiet, watchQuiet } from '../../inbox/conversation/moving.ts'
import { knownFiles } from '../../inbox/media/fetch-queries.ts'
import { forgetUploads } from '../../inbox/media/uploads.ts'
import {
  handBackExpired,
  handBackLapsed,
  runWatchdog,
  watchAnswers,
  watchExpired,
} from '../../inbox/ownership/hand-back.ts'
import { wakeSnoozed, watchSnoozed } from '../../inbox/ownership/snooze-timer.ts'
import { createWaitTeller } from '../../inbox/ownership/tell-waits.ts'
import { sweepEarly } from '../../inbox/receive/early-statuses.ts'
import { createInboxIndexer } from '../../inbox/search/index-inbox.ts'
import { forgetPaces } from '../../inbox/send/pace.ts'
import { settleStranded } from '../../inbox/send/settle-parts.ts'
import { sweepFormerValues, sweepImports } from '../../leads/retention.ts'
import { hearOfFeeds, indexHeard, readIndexedTo } from '../../leads/search/index-leads.ts'
import { purgeDeletedLeads } from '../../leads/write/restore.ts'
import { sweepStore } from '../../media/sweep.ts'
import { createPusher, watchPushes } from '../../notices/push/push.ts'
import { watchRotations, workOnRotations } from '../../rotation/rotation.ts'
import { sweepWebhookLog } from '../../webhooks/retention.ts'

const lookEveryMs = 1_000
const hourMs = 3_600_000
/** Whoever waits for a conversation to change hands is a customer. */
const steadyMs = 3_000
const strandedMs = 5_000
const minuteMs = 60_000
/** Whoever waits for people counts in minutes. */
const tellEveryMs = 15_000
const pushEveryMs = 2_000
/** Shifts of their work take two seconds. */
const shiftEveryMs = 1_000

/** Looks for chores whose turn has come, as every worker does. To stop is to wait for those that run. */
export function startChores(runtime: Runtime): Loop {
  const { db, clock, log, metrics, tracer, repeat = repeatAtPauses } = runtime
  const chores = createChores({ db, clock, log, tracer, ran: metrics.chore }, choresOf(runtime))
  const loop = repeat(lookEveryMs, chores.begin, (error) => log.error('chores not looked for', {}, error))
  return {
    stop: async () => {
      await loop.stop()
      await chores.idle()
    },
  }
}

// Those of an hour work off batches that commit by themselves. What they end is days old, so one that a dying worker
// has cut short may wait for the next.
function choresOf(runtime: Runtime): Chore[] {
  const { config, db, vault, clock, wallClock = clock, media: store } = runtime
  let sweptTo: string | null = null
  const templates = templateDeps(runtime)
  const hourly: Record<string, Chore['work']> = {
    'sweep-parked-statuses': () => sweepEarly(db, clock.now()),
    'forget-session-sends': () => forgetOldSends(db, clock.now()),
    'sweep-imports': () => sweepImports(db, clock),
    'sweep-former-values': () => sweepFormerValues(db, clock),
    'purge-deleted-leads': () => purgeDeletedLeads(db, clock),
    'sweep-webhook-log': () => sweepWebhookLog(db, clock.now()),
    'make-periods': () => makeAhead(db, eventsByTime, clock.now()),
    'remove-old-events': () => removeOldEvents(db, clock, readIndexedTo),
    'remove-old-rows': () => removeOld(runtime),
    'erase-quiet-conversations': () => eraseQuiet(runtime),
    'forget-uploads': () => forgetUploads({ db, clock }),
    'sweep-media': async () => {
      // By the clock of the machines, which that of the store is compared with.
      const known = (names: string[]) => knownFiles(db.sql, names)
      const { removed, after } = await sweepStore({ store, clock: systemClock, known }, sweptTo)
      sweptTo = after
      return removed
    },
    'sweep-sign-ins': async () => {
      await db.tx((tx) => sweepSignIns(tx, wallClock.now(), config.sessionIdleMs))
      return undefined
    },
    'forget-paces': async () => {
      await db.tx(forgetPaces)
      return undefined
    },
  }
  const erasures = erasureDeps(runtime)
  const feeds = hearOfFeeds({ db, clock })
  const inboxIndexer = createInboxIndexer({ db, vault, clock })
  const sends = { db, vault, clock, connectors: connectorsOf(runtime) }
  const rotations = { db, vault, clock, tables: keyedTables }
  const waits = createWaitTeller({ db, clock })
  const ofTime = { db, clock }
  const whenDue: Record<string, Pick<Chore, 'work' | 'everyMs'> & { watch: Pick<DueWatch, 'isDue'> }> = {
    'read-templates': { everyMs: steadyMs, work: () => syncDueTemplates(templates), watch: watchTemplates(ofTime) },
    'wake-snoozed': { everyMs: steadyMs, work: () => wakeSnoozed(db, clock), watch: watchSnoozed(ofTime) },
    'hand-back-expired': {
      everyMs: steadyMs,
      work: () => handBackExpired(db, vault, clock),
      watch: watchExpired(ofTime),
    },
    'finish-erasures': { everyMs: steadyMs, work: () => finishErasures(erasures), watch: watchErasures(ofTime) },
    'agent-watchdog': { everyMs: steadyMs, work: () => runWatchdog(db, vault, clock), watch: watchAnswers(ofTime) },
    'rotate-keys': { everyMs: shiftEveryMs, work: () => workOnRotations(rotations), watch: watchRotations(ofTime) },
    'push-notices': { everyMs: pushEveryMs, work: createPusher(pushDeps(runtime)), watch: watchPushes(ofTime) },
    'tell-outages': { everyMs: tellEveryMs, work: () => tellOutages(db, clock), watch: watchOutages(ofTime) },
  }
  return [
    ...Object.entries(hourly).map(([name, work]) => ({ name, everyMs: hourMs, work })),
    ...Object.entries(whenDue).map(([name, { watch, ...chore }]) => ({
      ...{ name, ...chore, isDue: watch.isDue, isQuiet: true },
    })),
    { name: 'hand-back-lapsed', everyMs: minuteMs, work: () => handBackLapsed(db, vault, clock), isQuiet: true },
    { name: 'tell-waits', everyMs: tellEveryMs, isQuiet: true, ...waits },
    ...[
      { name: 'index-leads', isDue: feeds.hasSome, work: () => indexHeard({ db, vault }, feeds) },
      { name: 'index-inbox', ...inboxIndexer },
      {
        name: 'refresh-statistics',
        isDue: watchGrowth(ofTime, recordedTopic),
        work: () => refreshStatistics(db.sql),
      },
    ].map((chore) => ({ ...chore, everyMs: shiftEveryMs, isSilent: true })),
    {
      name: 'place-quiet',
      everyMs: strandedMs,
      isDue: watchQuiet(ofTime).isDue,
      work: () => placeQuiet(ofTime),
      isSilent: true,
    },
    { name: 'settle-stranded', everyMs: strandedMs, work: () => settleStranded(sends), isQuiet: true },
  ]
}

/** Rows of a table that is worth a plan. */
const worthRows = 500
/** A session that has written tells the counts of it some seconds later. */
const toldWithinMs = 15_000
/** What no news tell of, the database itself looks at once a minute. */
const lookAgainMs = 60_000

/** Whether tables may have grown lately, by news of a topic that tells of what is written, and now and then. */
function watchGrowth(
  { db, clock }: { db: Pick<Db, 'onNews' | 'isHearing'>; clock: Clock },
  topic: string,
): () => boolean {
  let grewAtMs = Number.NEGATIVE_INFINITY
  let lookedAtMs = Number.NEGATIVE_INFINITY
  db.onNews(topic, () => {
    grewAtMs = clock.now().getTime()
  })
  return () => {
    const nowMs = clock.now().getTime()
    const isRecent = nowMs >= lookedAtMs && nowMs < lookedAtMs + lookAgainMs
    if (db.isHearing() && isRecent && nowMs > grewAtMs + toldWithinMs) return false
    lookedAtMs = nowMs
    return true
  }
}

/**
 * Has the database count again what more than doubled since it last did: by itself it looks once a minute, and until
 * then plans for the tables that were. In the first minute of an installation it knows nothing at all, and would read a
 * workspace through to find one lead by its name. Returns how many tables there were.
 */
async function refreshStatistics(sql: Sql): Promise<number> {
  const outgrown = await sql<{ name: string }[]>`
    select s.relid::regclass::text as name
    from pg_stat_user_tables s
    join pg_class c on c.oid = s.relid
    where s.n_live_tup > greatest(2 * c.reltuples, ${worthRows})
    order by name`
  // By itself it may be at one of them already, which does as well.
  for (const { name } of outgrown) await sql.unsafe(`analyze (skip_locked) ${name}`)
  return outgrown.length
}
