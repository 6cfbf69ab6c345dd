import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillConversations } from '../../../../bench/fill.ts'
import type { Db, Tx } from '../../../src/base/db.ts'
import { reassignOverdue, watchOverdueAnswers } from '../../../src/inbox/assignment/reassign-to-people.ts'
import { sendWaitingReminders } from '../../../src/inbox/assignment/waiting-reminder.ts'
import { idleMs, reindexIdle } from '../../../src/inbox/conversation/activity-columns.ts'
import { storeConversations } from '../../../src/inbox/conversation/batch-queries.ts'
import type { Conversation } from '../../../src/inbox/conversation/conversation.ts'
import { lockConversation, storeConversation } from '../../../src/inbox/conversation/queries.ts'
import { skipIfDistributed } from '../../support/database.ts'
import { holdConversations } from '../../support/inbox/gate.ts'
import { addAgent, type InboxWorld, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'

/** Returns this session's unreported updates of conversations, and how many of them were HOT (no index updated). */
async function updatesOf(tx: Tx): Promise<{ all: number; hot: number }> {
  const [row] = await tx<{ all: number; hot: number }[]>`
    select pg_stat_get_xact_tuples_updated('conversations'::regclass)::integer as "all",
      pg_stat_get_xact_tuples_hot_updated('conversations'::regclass)::integer as hot`
  return row ?? { all: 0, hot: 0 }
}

async function movingIn({ db, workspaceId }: { db: Db; workspaceId: string }): Promise<number> {
  const [row] = await db.sql<{ flags: number; rows: number }[]>`
    select
      (select count(*)::integer from conversations where workspace_id = ${workspaceId} and is_moving) as flags,
      (select count(*)::integer from moving_conversations where workspace_id = ${workspaceId}) as rows`
  assert.equal(row?.flags, row?.rows)
  return row?.rows ?? -1
}

const later = (before: Conversation, ms: number): Conversation => {
  const at = new Date(before.updatedAt.getTime() + ms)
  return {
    ...before,
    lastMessageAt: at,
    updatedAt: at,
    unreadCount: before.unreadCount + 1,
    unansweredSince: before.unansweredSince ?? at,
    lastMessage: { direction: 'inbound', kind: 'text', text: 'And by bus?' },
  }
}

test(
  'no index is updated for a message in, out or read, except one for a row that does not fit its page',
  skipIfDistributed('each server counts for itself what it updated in place'),
  async () => {
    const w = await inboxWorld()
    const { id } = await w.customerWrites('Hello')
    const keyring = await w.keyStore.keyring(w.workspaceId)
    const scope = { workspaceId: w.workspaceId, connectionIds: [] }
    const store = (change: (tx: Tx, before: Conversation) => Promise<void>) =>
      w.db.tx(async (tx) => {
        const before = await lockConversation({ tx, keyring }, scope, id)
        assert.ok(before)
        const earlier = await updatesOf(tx)
        await change(tx, before)
        const { all, hot } = await updatesOf(tx)
        return { all: all - earlier.all, hot: hot - earlier.hot }
      })
    const updates: { all: number; hot: number }[] = []
    for (let n = 0; n < 30; n++) {
      updates.push(
        await store((tx, before) =>
          storeConversations({ tx, keyring, workspaceId: w.workspaceId }, [{ before, after: later(before, 1000) }]),
        ),
        await store((tx, before) =>
          storeConversation({ tx, keyring, workspaceId: w.workspaceId }, { ...later(before, 1), unreadCount: 0 }),
        ),
      )
    }
    assert.ok(updates.every(({ all }) => all === 1))
    const hot = updates.filter((one) => one.hot === 1).length
    assert.ok(hot >= 0.9 * updates.length, `${hot} of ${updates.length}`)
  },
)

test('changes that indexes must follow at once are indexed at once', async () => {
  const w = await inboxWorld()
  const { id } = await w.customerWrites('Hello')
  await w.customerWrites('Hello again')
  assert.equal(await movingIn(w), 1)
  const member = await signedInMember(w)
  assert.equal((await member.call('PATCH', `/inbox/conversations/${id}`, { status: 'resolved' })).status, 200)
  assert.equal(await movingIn(w), 0)
  const [one] = await w.conversations()
  assert.deepEqual([one.status, one.unread_count], ['resolved', 2])
})

test('a conversation is reindexed only after some time without messages', async () => {
  const w = await inboxWorld()
  await w.customerWrites('Hello')
  await w.customerWrites('Hello again')
  w.clock.advance(idleMs - 1000)
  await w.customerWrites('Are you there?')
  w.clock.advance(1000)
  await reindexIdle(w)
  assert.equal(await movingIn(w), 1)
  const [moving] = await w.conversations()
  w.clock.advance(idleMs)
  await reindexIdle(w)
  assert.equal(await movingIn(w), 0)
  assert.deepEqual(await w.conversations(), [moving])
  const [row] = await w.db.sql`
    select unread_count, last_message_at, unanswered_since is not null as waits
    from conversations
    where workspace_id = ${w.workspaceId}`
  assert.deepEqual(
    [row?.unread_count, row?.last_message_at.toISOString(), row?.waits],
    [3, moving.last_message_at, true],
  )
})

/** Creates forty conversations at four times, ten each, of which every third is touched. */
async function tiedConversations(): Promise<{ w: InboxWorld; places: Map<string, string[]> }> {
  const w = await inboxWorld()
  const { id: keyId } = await addAgent(w)
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const filling = { ...w, keyring, now: w.clock.now() }
  const ids = await fillConversations(filling, { connectionId: w.connectionId, keyId, count: 40 })
  const moments = ids.map((_, n) => new Date(w.clock.now().getTime() - 3_600_000 - (n % 4) * 60_000))
  const of = (n: number) => moments[n] ?? new Date(0)
  await w.db.tx(async (tx) => {
    for (const [n, id] of ids.entries()) {
      const before = await lockConversation({ tx, keyring }, { workspaceId: w.workspaceId, connectionIds: [] }, id)
      assert.ok(before)
      const after = { ...before, lastMessageAt: of(n), updatedAt: of(n), unansweredSince: of(n), unreadCount: n % 5 }
      await storeConversation({ tx, keyring, workspaceId: w.workspaceId }, after)
      if (n % 3 > 0) await tx`delete from moving_conversations where conversation_id = ${id}`
    }
    await tx`
      update conversations
      set is_moving = false, unread_count = now_unread_count, last_message_at = now_last_message_at,
        unanswered_since = now_unanswered_since, updated_at = now_updated_at
      where workspace_id = ${w.workspaceId}
        and id not in (select conversation_id from moving_conversations)`
  })
  const newest = ids.map((id, n) => ({ id, at: of(n).getTime() })).sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
  const order = newest.map(({ id }) => id)
  const places = new Map([
    ['sort=recent', order],
    ['sort=updated', order],
    ['sort=waiting', order.toReversed()],
  ])
  return { w, places }
}

for (const isPlaced of [false, true]) {
  const meanwhile = isPlaced ? ', and while they are placed' : ''
  test(`every list contains each conversation once and in order, ties by id${meanwhile}`, async () => {
    const { w, places } = await tiedConversations()
    const member = await signedInMember(w)
    assert.equal(await movingIn(w), 14)
    for (const [query, order] of places) {
      const seen: string[] = []
      for (let cursor = ''; ; ) {
        const { body } = await member.call('GET', `/inbox/conversations?limit=7&${query}${cursor}`)
        seen.push(...body.conversations.map(({ id }: { id: string }) => id))
        if (body.cursor === null) break
        cursor = `&cursor=${body.cursor}`
        if (isPlaced) await reindexIdle(w)
      }
      assert.deepEqual(seen, order, query)
    }
    assert.equal(await movingIn(w), isPlaced ? 0 : 14)
  })
}

test('views are counted by current values, reindexed or not', async () => {
  const { w } = await tiedConversations()
  const member = await signedInMember(w)
  const counted = async () => (await member.call('GET', '/inbox/counts')).body.counts
  const unread = async () =>
    (await member.call('GET', '/inbox/conversations?limit=100&status=open&unread=true')).body.conversations.length
  const before = await counted()
  assert.deepEqual([before.all.unread, await unread()], [await unread(), before.all.unread])
  await reindexIdle(w)
  assert.deepEqual(await counted(), before)
  assert.equal(await unread(), before.all.unread)
})

test('locked conversations are not reindexed, and nobody waits for them', async () => {
  const w = await inboxWorld()
  await w.customerWrites('Hello')
  await w.customerWrites('Hello again')
  w.clock.advance(idleMs)
  const release = await holdConversations(w)
  await reindexIdle(w)
  assert.equal(await movingIn(w), 1)
  await release()
  await reindexIdle(w)
  assert.equal(await movingIn(w), 0)
})

test('touched conversations have correct waiting and answered states', async () => {
  const w = await inboxWorld()
  await addAgent(w)
  const admin = await signedInMember(w, 'admin')
  assert.equal((await admin.call('PATCH', '', { agentWatchdogMinutes: 1, answerGoalMinutes: 1 })).status, 200)
  const { id } = await w.customerWrites('Hello')
  const keyring = await w.keyStore.keyring(w.workspaceId)
  await w.db.tx(async (tx) => {
    const before = await lockConversation({ tx, keyring }, { workspaceId: w.workspaceId, connectionIds: [] }, id)
    assert.ok(before)
    const after = { ...later(before, 1000), unansweredSince: null }
    await storeConversations({ tx, keyring, workspaceId: w.workspaceId }, [{ before, after }])
  })
  const look = async () => {
    w.clock.advance(61_000)
    const isLate = await watchOverdueAnswers(w).isDue()
    return {
      isLate,
      told: await sendWaitingReminders(w.db, w.clock, [w.workspaceId]),
      handedBack: await reassignOverdue(w.db, w.keyStore, w.clock),
    }
  }
  assert.deepEqual(await look(), { isLate: false, told: 0, handedBack: 0 })
  await w.customerWrites('And by bus?')
  assert.equal(await movingIn(w), 1)
  assert.deepEqual(await look(), { isLate: true, told: 1, handedBack: 1 })
})
