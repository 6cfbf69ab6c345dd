import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Db } from '../../src/base/db.ts'
import type { DueWatch } from '../../src/base/pubsub.ts'
import { notifyOutages, watchOutages } from '../../src/channels/health/health.ts'
import { applyPlatformSignal } from '../../src/channels/health/platform-signals.ts'
import { watchTemplates } from '../../src/channels/templates/template-schedule.ts'
import {
  reassignFromExpiredKeys,
  reassignOverdue,
  watchExpiredKeys,
  watchOverdueAnswers,
} from '../../src/inbox/assignment/reassign-to-people.ts'
import { reopenSnoozed, watchSnoozed } from '../../src/inbox/assignment/snooze-timer.ts'
import {
  createWaitingReminder,
  sendWaitingReminders,
  type WaitingReminder,
} from '../../src/inbox/assignment/waiting-reminder.ts'
import { watchBulkChanges } from '../../src/leads/bulk/bulk-changes.ts'
import { runBulkChanges } from '../../src/leads/bulk/run-bulk-change.ts'
import { remindDueTasks, watchTasks } from '../../src/tasks/due-tasks.ts'
import { addAgent, type InboxWorld, inboxWorld } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'

const secondMs = 1_000
const minuteMs = 60_000
const never = new AbortController().signal

interface TimedWork {
  name: string
  watch(deps: { db: Db; clock: InboxWorld['clock'] }): DueWatch | WaitingReminder
  before?(w: InboxWorld): Promise<unknown>
  /** What the work waits for, of which there are news. */
  cause(w: InboxWorld): Promise<unknown>
  /** After so long it is due. */
  afterMs: number
  /** Maximum extra delay when a notification is lost. */
  lookMs: number
  work(w: InboxWorld): Promise<unknown>
}

const works: readonly TimedWork[] = [
  {
    name: 'a snoozed conversation wakes',
    watch: watchSnoozed,
    cause: async (w) => {
      const member = await signedInMember(w)
      const { id } = await w.customerWrites('Later, please')
      const snoozedUntil = new Date(w.clock.now().getTime() + 4 * secondMs).toISOString()
      const { status } = await member.call('PATCH', `/inbox/conversations/${id}`, { status: 'snoozed', snoozedUntil })
      assert.equal(status, 200)
    },
    afterMs: 4 * secondMs,
    lookMs: 15 * secondMs,
    work: (w) => reopenSnoozed(w.db, w.keyStore, w.clock),
  },
  {
    name: 'a task is due',
    watch: watchTasks,
    cause: async (w) => {
      const member = await signedInMember(w)
      const dueAt = new Date(w.clock.now().getTime() + 4 * secondMs).toISOString()
      assert.equal((await member.call('POST', '/tasks', { title: 'Call', dueAt })).status, 201)
    },
    afterMs: 4 * secondMs,
    lookMs: 15 * secondMs,
    work: (w) => remindDueTasks(w),
  },
  {
    name: 'a key with conversations expires',
    watch: watchExpiredKeys,
    cause: async (w) => {
      await addAgent(w, { expiresAt: new Date(w.clock.now().getTime() + 4 * secondMs) })
      await w.customerWrites('Hi')
    },
    afterMs: 4 * secondMs,
    lookMs: 15 * secondMs,
    work: (w) => reassignFromExpiredKeys(w.db, w.keyStore, w.clock),
  },
  {
    name: 'an agent has less time than it took',
    watch: watchOverdueAnswers,
    before: async (w) => {
      await addAgent(w)
      await w.customerWrites('Hi')
      w.clock.advance(minuteMs)
    },
    cause: async (w) => {
      const admin = await signedInMember(w, 'admin')
      assert.equal((await admin.call('PATCH', '', { agentWatchdogMinutes: 1 })).status, 200)
    },
    afterMs: 0,
    lookMs: 30 * secondMs,
    work: (w) => reassignOverdue(w.db, w.keyStore, w.clock),
  },
  {
    name: 'a platform hints that templates have changed',
    watch: watchTemplates,
    cause: async (w) => {
      const now = w.clock.now()
      await w.db.sql`
        update connections
        set templates_due_at = ${new Date(now.getTime() + 10 * minuteMs)}
        where id = ${w.connectionId}`
      await signal(w, { type: 'templates_changed' })
    },
    afterMs: 5 * secondMs,
    lookMs: 15 * secondMs,
    work: (w) => w.db.sql`update connections set templates_due_at = null`,
  },
  {
    name: 'a connection recovers whose outage was notified',
    watch: watchOutages,
    before: async (w) => {
      await w.db.sql`update connections set last_event_in_at = ${w.clock.now()} where id = ${w.connectionId}`
      await signal(w, { type: 'connection_state', available: false, reason: 'platform_error_190' })
      w.clock.advance(minuteMs)
    },
    cause: (w) => signal(w, { type: 'connection_state', available: true, reason: 'platform_error_190' }),
    afterMs: 15 * secondMs,
    lookMs: 40 * secondMs,
    work: (w) => notifyOutages(w.db, w.clock),
  },
  {
    name: 'a bulk change is begun',
    watch: watchBulkChanges,
    before: async (w) => (await signedInMember(w)).call('POST', '/leads', { firstName: 'Marina' }),
    cause: async (w) => {
      const admin = await signedInMember(w, 'admin')
      const begun = await admin.call('POST', '/lead-bulk-changes', { filter: {}, changes: { priority: 'high' } })
      assert.equal(begun.status, 201, JSON.stringify(begun.body))
    },
    afterMs: 0,
    lookMs: 5 * secondMs,
    work: (w) => runBulkChanges(w, never),
  },
  {
    name: 'a customer has waited for longer than the goal',
    watch: createWaitingReminder,
    before: async (w) => {
      await w.customerWrites('Hi')
      w.clock.advance(minuteMs)
    },
    cause: async (w) => {
      const admin = await signedInMember(w, 'admin')
      assert.equal((await admin.call('PATCH', '', { answerGoalMinutes: 1 })).status, 200)
    },
    afterMs: 0,
    lookMs: minuteMs,
    work: (w) => sendWaitingReminders(w.db, w.clock),
  },
]

type Signal = Parameters<typeof applyPlatformSignal>[2]
const signal = (w: InboxWorld, what: Signal): Promise<void> =>
  applyPlatformSignal(w, { workspaceId: w.workspaceId, id: w.connectionId }, what)

/** A database whose news are lost. */
const unheard = (db: Db): Db => ({ ...db, subscribe: () => () => {} })

for (const { name, watch, before, cause, afterMs, lookMs, work } of works) {
  test(`when ${name} it is detected in time, and slightly later without a notification`, async () => {
    const w = await inboxWorld()
    await before?.(w)
    await work(w)
    const told = watch({ clock: w.clock, db: w.db })
    const untold = watch({ clock: w.clock, db: unheard(w.db) })
    // A teller of waits is due at first: it looks at all.
    for (const one of [told, untold]) {
      await one.isDue()
      if ('work' in one) await one.work()
    }
    assert.deepEqual([await told.isDue(), await untold.isDue()], [false, false])
    await cause(w)
    w.clock.advance(afterMs)
    assert.deepEqual([await told.isDue(), await untold.isDue()], [true, false])
    w.clock.advance(lookMs)
    assert.equal(await untold.isDue(), true)
    await work(w)
    if ('askAgain' in told) assert.equal(await told.isDue(), false, 'once it is done')
  })
}
