import { agentSenderReader } from '../../app/agents.ts'
import { deleteExpiredRows, eraseIdleConversations, erasureDeps } from '../../app/erasure.ts'
import { connectorsOf, createFindLeads, sendDeps, templateDeps } from '../../app/inbox.ts'
import { embedderOf } from '../../app/knowledge.ts'
import { notificationMailDeps, pushDeps } from '../../app/notifications.ts'
import type { Runtime } from '../../app/runtime.ts'
import { keyedTables } from '../../app/tables.ts'
import { deleteExpiredSignIns } from '../../auth/sign-in/sessions.ts'
import { deleteOldNotes } from '../../automation/runs.ts'
import { type Loop, repeatAfterPause } from '../../base/async/loop.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { Db, Sql } from '../../base/db.ts'
import { createNextPartition } from '../../base/partitions.ts'
import type { DueWatch } from '../../base/pubsub.ts'
import { rebuildSparseIndexes } from '../../base/rebuild-indexes.ts'
import { runStep } from '../../base/run-step.ts'
import { createScheduledJobs, type ScheduledJob } from '../../base/scheduled-jobs.ts'
import { notifyOutages, watchOutages } from '../../channels/health/health.ts'
import { syncDueTemplates } from '../../channels/templates/sync-templates.ts'
import { watchTemplates } from '../../channels/templates/template-schedule.ts'
import { deleteOldSends } from '../../channels/unofficial/send/sends.ts'
import { finishErasures, watchErasures } from '../../erasure/run.ts'
import { recordedTopic } from '../../events/record.ts'
import { eventPartitions, removeOldEvents } from '../../events/retention.ts'
import {
  reassignFromEndedKeys,
  reassignFromExpiredKeys,
  reassignOverdue,
  watchExpiredKeys,
  watchOverdueAnswers,
} from '../../inbox/assignment/reassign-to-people.ts'
import { remindOfSilence } from '../../inbox/assignment/silence-reminder.ts'
import { reopenSnoozed, watchSnoozed } from '../../inbox/assignment/snooze-timer.ts'
import { createWaitingReminder } from '../../inbox/assignment/waiting-reminder.ts'
import { countDueBudgets } from '../../inbox/budgets/count-ledger.ts'
import { reindexIdle, watchIdle } from '../../inbox/conversation/activity-columns.ts'
import { createAwayMessages } from '../../inbox/goals/away-messages.ts'
import { runGoals, watchGoals } from '../../inbox/goals/missed-goals.ts'
import { findReferencedFiles } from '../../inbox/media/fetch-queries.ts'
import { deleteAbandonedUploads } from '../../inbox/media/uploads.ts'
import { deleteOldParked } from '../../inbox/receive/early-statuses.ts'
import { selectReviews } from '../../inbox/reviews/select-reviews.ts'
import { clearRemovedTeams } from '../../inbox/routing/clear-teams.ts'
import { settleRoutingWaits, watchRoutingWaits } from '../../inbox/routing/route-waiting.ts'
import { askForRatings, watchSatisfaction } from '../../inbox/satisfaction/ask-for-ratings.ts'
import { sendDueMessages, watchScheduled } from '../../inbox/scheduled/send-due.ts'
import { createInboxIndexer } from '../../inbox/search/index-inbox.ts'
import { deleteIdleRates } from '../../inbox/send/send-rate.ts'
import { settleStrandedSends } from '../../inbox/send/settle-parts.ts'
import { runRotationSteps, watchRotations } from '../../key-rotation/rotation.ts'
import { embedArticles } from '../../knowledge/embeddings.ts'
import { deleteExpiredFormerValues, deleteExpiredImportFiles } from '../../leads/retention.ts'
import { collectChangedFeeds, indexChangedFeeds, readIndexedPosition } from '../../leads/search/index-leads.ts'
import { processSourceRequests, watchSourceRequests } from '../../leads/sources/process-requests.ts'
import { purgeDeletedLeads } from '../../leads/write/restore.ts'
import { createMailSender, watchMails } from '../../mail/send-mails.ts'
import { sweepStore } from '../../media/sweep.ts'
import { mailDigests, watchDigests } from '../../notifications/mail/digest.ts'
import { mailNotifications, watchNotificationMails } from '../../notifications/mail/notification-mail.ts'
import { createPushSender, watchPushes } from '../../notifications/push/push.ts'
import { createReportCounter } from '../../reports/count-changes.ts'
import { mailReports, watchReportMails } from '../../reports/weekly-mail.ts'
import { removeOldSandboxes } from '../../scenarios/run/sandbox.ts'
import { endSilentRuns } from '../../scenarios/store/runs.ts'
import { createSequenceJob } from '../../sequences/send-due-steps.ts'
import { remindDueTasks, watchTasks } from '../../tasks/due-tasks.ts'
import { deleteOldWebhookLog } from '../../webhooks/retention.ts'

const pollEveryMs = 1_000
const hourMs = 3_600_000
/** Short, because customers wait for a conversation to be reassigned. */
const frequentMs = 3_000
const strandedMs = 5_000
const minuteMs = 60_000
/** For notifications about waiting customers, which count in minutes. */
const reminderEveryMs = 15_000
/** A run takes two seconds at most, so that counting takes a small part of a busy machine. */
const reportEveryMs = 15_000
const pushEveryMs = 2_000
/** Short, because people wait for sign-in links. */
const mailEveryMs = 1_000
/** For jobs that work in time slices of two seconds. */
const sliceEveryMs = 1_000

/** Polls for due scheduled jobs, as every worker does. `stop` waits for running ones. */
export function startScheduledJobs(runtime: Runtime): Loop {
  const { db, clock, log, metrics, tracer, repeat = repeatAfterPause } = runtime
  const scheduledJobs = createScheduledJobs({ db, clock, log, tracer, onRun: metrics.job }, scheduledJobsOf(runtime))
  const loop = repeat(pollEveryMs, scheduledJobs.startDue, (error) =>
    log.warn('failed to poll for scheduled jobs; retrying', {}, error),
  )
  return {
    stop: async () => {
      await loop.stop()
      await scheduledJobs.idle()
    },
  }
}

function scheduledJobsOf(runtime: Runtime): ScheduledJob[] {
  const { db, keyStore, clock } = runtime
  const templates = templateDeps(runtime)
  const erasures = erasureDeps(runtime)
  const feeds = collectChangedFeeds({ db, clock })
  const sends = { db, keyStore, clock, connectors: connectorsOf(runtime) }
  const rotations = { db, keyStore, clock, tables: keyedTables }
  const sequences = createSequenceJob({ sends: sendDeps(runtime), step: runStep })
  const timeDeps = { db, clock }
  const hasGrown = watchGrowth(timeDeps, recordedTopic)
  const dueJobs: Record<string, DueJob> = {
    ...mailJobs(runtime),
    ...inboxTimers(runtime),
    'process-lead-sources': due(frequentMs, () => processSourceRequests(runtime), watchSourceRequests(timeDeps)),
    'read-templates': due(frequentMs, () => syncDueTemplates(templates), watchTemplates(timeDeps)),
    'finish-erasures': due(frequentMs, () => finishErasures(erasures), watchErasures(timeDeps)),
    'rotate-keys': due(sliceEveryMs, () => runRotationSteps(rotations), watchRotations(timeDeps)),
    'send-push-notifications': due(pushEveryMs, createPushSender(pushDeps(runtime)), watchPushes(timeDeps)),
    'notify-outages': due(reminderEveryMs, () => notifyOutages(db, clock), watchOutages(timeDeps)),
  }
  return [
    ...Object.entries(hourlyJobs(runtime)).map(([name, work]) => ({ name, everyMs: hourMs, work })),
    ...Object.entries(dueJobs).map(([name, job]) => ({ name, ...job, isQuiet: true })),
    ...Object.entries(minuteJobs(runtime)).map(([name, work]) => ({ name, everyMs: minuteMs, work, isQuiet: true })),
    { name: 'count-budgets', everyMs: minuteMs, work: () => countDueBudgets({ db, clock }), isSilent: true },
    { name: 'send-sequences', everyMs: frequentMs, isQuiet: true, ...sequences },
    { name: 'notify-waiting', everyMs: reminderEveryMs, isQuiet: true, ...createWaitingReminder({ db, clock }) },
    { name: 'count-reports', everyMs: reportEveryMs, isSilent: true, ...reportCounterOf(runtime) },
    { name: 'send-away-messages', everyMs: frequentMs, isQuiet: true, ...createAwayMessages(sendDeps(runtime)) },
    ...[
      { name: 'index-leads', isDue: feeds.hasAny, work: () => indexChangedFeeds({ db, keyStore }, feeds) },
      { name: 'index-inbox', ...createInboxIndexer({ db, keyStore, clock }) },
      { name: 'refresh-statistics', isDue: hasGrown, work: () => refreshStatistics(db.sql) },
    ].map((job) => ({ ...job, everyMs: sliceEveryMs, isSilent: true })),
    {
      ...{ name: 'reindex-idle-conversations', isSilent: true },
      ...due(strandedMs, () => reindexIdle(timeDeps), watchIdle(timeDeps)),
    },
    { name: 'settle-stranded', everyMs: strandedMs, work: () => settleStrandedSends(sends), isQuiet: true },
  ]
}

const reportCounterOf = (runtime: Runtime) => createReportCounter({ ...runtime, findLeads: createFindLeads(runtime) })

type DueJob = Pick<ScheduledJob, 'work' | 'everyMs' | 'isDue'>

/** A job that runs when its watch says that there is work. */
const due = (everyMs: number, work: ScheduledJob['work'], { isDue }: Pick<DueWatch, 'isDue'>): DueJob => ({
  ...{ everyMs, work, isDue },
})

/** Jobs that look once a minute whether there is work. */
function minuteJobs(runtime: Runtime): Record<string, ScheduledJob['work']> {
  const { db, keyStore, clock } = runtime
  const embedder = embedderOf(runtime)
  return {
    'hand-back-lapsed': () => reassignFromEndedKeys(db, keyStore, clock),
    ...(embedder !== null && { 'embed-articles': () => embedArticles(db, embedder) }),
    'select-reviews': () => selectReviews({ db, keyStore, clock }),
    'clear-removed-teams': () => clearRemovedTeams({ db, keyStore, clock }),
  }
}

/** Jobs for conversations and tasks whose time comes. */
function inboxTimers(runtime: Runtime): Record<string, DueJob> {
  const { db, keyStore, clock, metrics } = runtime
  const timeDeps = { db, clock }
  const deps = { db, keyStore, clock }
  const scheduledSends = { ...sendDeps(runtime), readAgentSender: agentSenderReader(runtime) }
  const wake = async () => (await reopenSnoozed(db, keyStore, clock)) + (await remindOfSilence(db, clock))
  const goals = { ...deps, onMissed: metrics.missedGoal }
  return {
    'wake-snoozed': due(frequentMs, wake, watchSnoozed(timeDeps)),
    'remind-tasks': due(frequentMs, () => remindDueTasks(deps), watchTasks(timeDeps)),
    'send-scheduled': due(frequentMs, () => sendDueMessages(scheduledSends), watchScheduled(timeDeps)),
    'ask-for-ratings': due(minuteMs, () => askForRatings(scheduledSends), watchSatisfaction(timeDeps)),
    'hand-back-expired': due(
      frequentMs,
      () => reassignFromExpiredKeys(db, keyStore, clock),
      watchExpiredKeys(timeDeps),
    ),
    'agent-watchdog': due(frequentMs, () => reassignOverdue(db, keyStore, clock), watchOverdueAnswers(timeDeps)),
    'route-waiting': due(frequentMs, () => settleRoutingWaits(deps), watchRoutingWaits(timeDeps)),
    'service-goals': due(frequentMs, () => runGoals(goals), watchGoals(timeDeps)),
  }
}

/** Jobs of installations with a mail server. */
function mailJobs(runtime: Runtime): Record<string, DueJob> {
  const { db, clock, mailer = null } = runtime
  if (mailer === null) return {}
  const timeDeps = { db, clock }
  const deps = notificationMailDeps(runtime)
  const sendMails = createMailSender({ ...runtime, mailer, onEnd: runtime.metrics.mailed })
  return {
    'send-mails': due(mailEveryMs, sendMails, watchMails(timeDeps)),
    'mail-notifications': due(reminderEveryMs, () => mailNotifications(deps), watchNotificationMails(timeDeps)),
    'mail-digests': due(reminderEveryMs, () => mailDigests(deps), watchDigests(timeDeps)),
    'mail-reports': due(minuteMs, () => mailReports(deps), watchReportMails(timeDeps)),
  }
}

/** Minimum number of rows for a table to be analyzed. */
const minRows = 500
/** Time after which a session's writes appear in the statistics of its tables. */
const statisticsDelayMs = 15_000
/** Interval of checks for growth without a notification. */
const recheckEveryMs = 60_000

/** Returns a check whether tables may have grown, by messages of a topic for recorded changes, and once a minute. */
function watchGrowth(
  { db, clock }: { db: Pick<Db, 'subscribe' | 'isListening'>; clock: Clock },
  topic: string,
): () => boolean {
  let grewAtMs = Number.NEGATIVE_INFINITY
  let checkedAtMs = Number.NEGATIVE_INFINITY
  db.subscribe(topic, () => {
    grewAtMs = clock.now().getTime()
  })
  return () => {
    const nowMs = clock.now().getTime()
    const isRecent = nowMs >= checkedAtMs && nowMs < checkedAtMs + recheckEveryMs
    if (db.isListening() && isRecent && nowMs > grewAtMs + statisticsDelayMs) return false
    checkedAtMs = nowMs
    return true
  }
}

/**
 * Analyzes tables that more than doubled since their last analysis. PostgreSQL checks once a minute and until then
 * plans for the old size. In the first minute of an installation it has no statistics, and would scan a workspace to
 * find a lead by name. Returns the number of tables.
 */
async function refreshStatistics(sql: Sql): Promise<number> {
  const outgrown = await sql<{ name: string }[]>`
    select s.relid::regclass::text as name
    from pg_stat_user_tables s
    join pg_class c on c.oid = s.relid
    where s.n_live_tup > greatest(2 * c.reltuples, ${minRows})
    order by name`
  // `skip_locked`, because autovacuum may already be analyzing a table.
  for (const { name } of outgrown) await sql.unsafe(`analyze (skip_locked) ${name}`)
  return outgrown.length
}

// Hourly jobs work in batches that commit separately. They delete data that is days old, so an interrupted run can
// continue in the next.
function hourlyJobs(runtime: Runtime): Record<string, ScheduledJob['work']> {
  const { config, db, clock, wallClock = clock, media: store } = runtime
  let sweepPosition: string | null = null
  return {
    'sweep-parked-statuses': () => deleteOldParked(db, clock.now()),
    'delete-old-session-sends': () => deleteOldSends(db, clock.now()),
    'sweep-imports': () => deleteExpiredImportFiles(db, clock),
    'sweep-former-values': () => deleteExpiredFormerValues(db, clock),
    'purge-deleted-leads': () => purgeDeletedLeads(db, clock),
    'sweep-webhook-log': () => deleteOldWebhookLog(db, clock.now()),
    'sweep-automation-log': () => deleteOldNotes(db),
    'create-partitions': () => createNextPartition(db, eventPartitions, clock.now()),
    'remove-old-events': () => removeOldEvents(db, clock, readIndexedPosition),
    'remove-old-rows': () => deleteExpiredRows(runtime),
    'erase-idle-conversations': () => eraseIdleConversations(runtime),
    'rebuild-sparse-indexes': () => rebuildSparseIndexes(db),
    'delete-expired-uploads': () => deleteAbandonedUploads({ db, clock }),
    'sweep-media': async () => {
      // Uses the machine's clock, which is compared with the times in the store.
      const findReferenced = (names: string[]) => findReferencedFiles(db.sql, names)
      const { removed, after } = await sweepStore({ store, clock: systemClock, findReferenced }, sweepPosition)
      sweepPosition = after
      return removed
    },
    'remove-sandboxes': async () => {
      await db.tx((tx) => endSilentRuns(tx, clock.now()))
      return removeOldSandboxes({ db, clock })
    },
    'sweep-sign-ins': async () => {
      await db.tx((tx) => deleteExpiredSignIns(tx, wallClock.now(), config.sessionIdleMs))
      return undefined
    },
    'delete-idle-rate-limits': async () => {
      await db.tx(deleteIdleRates)
      return undefined
    },
  }
}
