import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentPayload } from '../../../src/app/events.ts'
import { newId } from '../../../src/base/id.ts'
import { recordOptInEvents } from '../../../src/events/record.ts'
import { reopenSnoozed } from '../../../src/inbox/assignment/snooze-timer.ts'
import { conversationRated, taskDue } from '../../../src/inbox/conversation/opt-in-events.ts'
import { createDeliveryWorker } from '../../../src/webhooks/deliver/worker.ts'
import { optInEventNames } from '../../../src/workspaces/opt-in-events.ts'
import { eventsPath } from '../../support/events/feed-world.ts'
import { addAgent, addLabel } from '../../support/inbox/inbox-world.ts'
import { mergeWorld } from '../../support/leads/merge-world.ts'
import { signedInMember } from '../../support/member.ts'
import { startReceiver } from '../../support/webhooks/webhook-receiver.ts'

type Everything = Awaited<ReturnType<typeof everything>>

/** A conversation, two leads, a member, and a real receiver that a worker sends to on demand. */
async function everything() {
  const { w, member, one, two, merge } = await mergeWorld()
  const admin = await signedInMember(w, 'admin')
  const receiver = await startReceiver()
  const worker = createDeliveryWorker({ ...w, present: presentPayload, random: () => 0 })
  const label = await addLabel(w, 'VIP')
  const { id } = await w.customerWrites('Hi')
  const settled = async (answer: Promise<{ status: number; body: unknown }>) => {
    const { status, body } = await answer
    assert.ok(status >= 200 && status < 300, `${status} ${JSON.stringify(body)}`)
  }
  const change = (patch: object) => settled(member.call('PATCH', `/inbox/conversations/${id}`, patch))
  const read = async (query: Record<string, string>, key?: string) => {
    const { status, body } = await w.call('GET', eventsPath, { query, ...(key !== undefined && { key }) })
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  return {
    ...{ w, member, admin, one, two, merge, receiver, label, id: id as string, change, read },
    listen: async (events: readonly string[], more: object = {}) => {
      const { status, body } = await admin.call('POST', '/webhooks', { url: receiver.url, events, ...more })
      assert.equal(status, 201, JSON.stringify(body))
      return body.endpoint.id as string
    },
    note: (text: string) => settled(member.call('POST', `/inbox/conversations/${id}/notes`, { text })),
    setFeed: (feedEvents: readonly string[]) => settled(admin.call('PATCH', '', { feedEvents })),
    /** Returns the requests since the last call, as `[event, body]`. */
    received: async () => {
      await worker.drain()
      return receiver.received.splice(0).map(({ event, body }) => [event, body] as const)
    },
    rows: async () => {
      const [row] = await w.db.sql<{ count: number }[]>`
        select count(*)::integer as count
        from events
        where workspace_id = ${w.workspaceId}
          and name = any (${optInEventNames}::text[])`
      return row?.count
    },
  }
}

/** One change for each event; returns what a receiver gets. */
const changes: Record<(typeof optInEventNames)[number], (e: Everything) => Promise<object>> = {
  'conversation.assigned': async ({ change, member }) => {
    await change({ assignedTo: member.userId })
    return { assigned_to: member.userId, previous_assigned_to: null, reason: null }
  },
  'conversation.labelled': async ({ change, label }) => {
    await change({ labelIds: [label] })
    return { added_label_ids: [label], removed_label_ids: [], reason: null }
  },
  'conversation.note_added': async ({ note }) => {
    await note('Call +55 11 98765-0001 after noon')
    return {}
  },
  'conversation.status_changed': async ({ change }) => {
    await change({ status: 'resolved' })
    return { status: 'resolved', previous_status: 'open', snoozed_until: null, reason: null }
  },
  'lead.merged': async ({ merge, one, two }) => {
    assert.equal((await merge()).status, 200)
    return { id: one.id, mergedId: two.id }
  },
  'task.due': async ({ w, id, one }) => {
    const now = w.clock.now()
    const keyring = await w.keyStore.keyring(w.workspaceId)
    const conversation = { id, connectionId: w.connectionId }
    const task = { id: newId(now), title: 'Call 5511987650001', dueAt: now, assignee: null }
    const event = taskDue({ ...task, conversation, leadId: one.id })
    await w.db.tx((tx) => recordOptInEvents({ tx, keyring, workspaceId: w.workspaceId, now }, [event]))
    return { conversation_id: id, lead_id: one.id }
  },
  'conversation.rated': async ({ w, id, member }) => {
    const now = w.clock.now()
    const keyring = await w.keyStore.keyring(w.workspaceId)
    const answerer = { type: 'user', id: member.userId }
    const event = conversationRated({ id, connectionId: w.connectionId }, { score: 4, scale: 5, answerer }, now)
    await w.db.tx((tx) => recordOptInEvents({ tx, keyring, workspaceId: w.workspaceId, now }, [event]))
    return { score: 4, scale: 5, answered_by: answerer }
  },
}

const makeChanges = async (e: Everything) => {
  const bodies: object[] = []
  for (const name of optInEventNames) bodies.push(await changes[name](e))
  return bodies
}

test('nobody gets the events without naming them, and no row is written for them', async () => {
  const e = await everything()
  await e.listen(['lead.*', 'inbox.*'])
  const { next_cursor: after } = await e.read({})
  await makeChanges(e)
  assert.deepEqual(
    (await e.received()).map(([event]) => event),
    ['lead.deleted', 'lead.updated'],
  )
  const names = ['lead.deleted', 'lead.updated']
  const page = await e.read({ after })
  assert.deepEqual(
    page.events.map(({ event }: { event: string }) => event),
    names,
  )
  assert.equal(await e.rows(), 0)
})

test('an endpoint gets each event that it names, once, from then on', async () => {
  const e = await everything()
  await e.note('Before')
  await e.listen(optInEventNames)
  const expected = await makeChanges(e)
  const received = await e.received()
  assert.deepEqual(received.map(([event]) => event).sort(), [...optInEventNames].sort())
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  const bodies = new Map<string, Record<string, any>>(received)
  for (const [n, name] of optInEventNames.entries()) {
    const body = bodies.get(name) ?? {}
    // Lead events are sent bare.
    const payload = (name === 'lead.merged' ? body : body.payload) as Record<string, unknown>
    if (name !== 'lead.merged') assert.equal(body.event, name)
    for (const [field, value] of Object.entries(expected[n] ?? {})) assert.deepEqual(payload[field], value, field)
    if (name.startsWith('conversation.')) {
      assert.equal(payload.conversation_id, e.id)
      // The customer has made this one.
      const { actor = payload.answered_by } = payload
      assert.deepEqual(actor, { type: 'user', id: e.member.userId })
    }
  }
  assert.equal(bodies.get('conversation.note_added')?.payload.note.text, noteText)
  assert.deepEqual(await e.received(), [])
})

const noteText = 'Call +55 11 98765-0001 after noon'

test('an endpoint that sees phones masked gets no number in notes, titles and leads', async () => {
  const e = await everything()
  await e.listen(optInEventNames, { phoneVisibility: 'masked' })
  await makeChanges(e)
  const received = await e.received()
  assert.equal(received.length, optInEventNames.length)
  assert.doesNotMatch(JSON.stringify(received), /8765-?0001|5581991234567/)
})

test('an endpoint that no longer names an event does not get it, and the last one ends its recording', async () => {
  const e = await everything()
  const id = await e.listen(['conversation.note_added'])
  await e.note('One')
  assert.equal((await e.received()).length, 1)
  assert.equal((await e.admin.call('PATCH', `/webhooks/${id}`, { events: ['inbox.*'] })).status, 200)
  await e.note('Two')
  assert.equal(await e.rows(), 1)
  await e.listen(['conversation.note_added'])
  await e.note('Three')
  assert.equal(await e.rows(), 2)
})

test('the events of a disabled endpoint are recorded, for when it is enabled again', async () => {
  const e = await everything()
  const id = await e.listen(['conversation.labelled'])
  const since = e.w.clock.now().toISOString()
  assert.equal((await e.admin.call('POST', `/webhooks/${id}/disable`)).status, 200)
  await e.change({ labelIds: [e.label] })
  assert.deepEqual(await e.received(), [])
  assert.equal((await e.admin.call('POST', `/webhooks/${id}/enable`, { sendSince: since })).status, 200)
  assert.deepEqual(
    (await e.received()).map(([event]) => event),
    ['conversation.labelled'],
  )
  assert.equal((await e.admin.call('DELETE', `/webhooks/${id}`)).status < 300, true)
  await e.change({ labelIds: [] })
  assert.equal(await e.rows(), 1)
})

test('a status that changes by itself says why', async () => {
  const e = await everything()
  await e.listen(['conversation.status_changed'])
  const reasons = async () =>
    (await e.received()).map(([, { payload }]) => [payload.previous_status, payload.status, payload.reason])
  await e.change({ status: 'resolved' })
  assert.deepEqual(await reasons(), [['open', 'resolved', null]])
  e.w.clock.advance(1000)
  await e.w.customerWrites('One more thing')
  assert.deepEqual(await reasons(), [['resolved', 'open', 'customer_wrote']])
  const snoozedUntil = new Date(e.w.clock.now().getTime() + 60_000).toISOString()
  await e.change({ status: 'snoozed', snoozedUntil })
  e.w.clock.advance(60_000)
  await reopenSnoozed(e.w.db, e.w.keyStore, e.w.clock)
  assert.deepEqual(await reasons(), [
    ['open', 'snoozed', null],
    ['snoozed', 'open', 'timer'],
  ])
})

test('the feed has the events that the workspace has set, for readers who name them, in one order', async () => {
  const e = await everything()
  const { next_cursor: after } = await e.read({})
  await e.note('Before')
  await e.setFeed(['conversation.note_added', 'lead.merged'])
  await makeChanges(e)
  const namesOf = async (events: string, key?: string) =>
    (await e.read({ after, ...(events !== '' && { events }) }, key)).events.map(({ event }: { event: string }) => event)
  assert.deepEqual(await namesOf(''), ['lead.deleted', 'lead.updated'])
  assert.deepEqual(await namesOf('lead.*,inbox.*'), ['lead.deleted', 'lead.updated'])
  const all = ['conversation.note_added', 'lead.deleted', 'lead.merged', 'lead.updated']
  assert.deepEqual(await namesOf(`lead.*,${optInEventNames.join()}`), all)
  // A cursor belongs to no filter, so one that has passed an event does not return to it.
  const { next_cursor: past } = await e.read({ after })
  assert.deepEqual((await e.read({ after: past, events: optInEventNames.join() })).events, [])
})

test('a key gets only the events that its scopes, connections and masking allow', async () => {
  const e = await everything()
  const { w } = e
  await e.setFeed(optInEventNames)
  const { next_cursor: after } = await e.read({})
  await makeChanges(e)
  const other = await w.addConnection()
  const conversationNames = optInEventNames.filter((name) => name.startsWith('conversation.'))
  const table = [
    [{ scopes: ['leads.read'] }, ['lead.merged']],
    [{ scopes: ['inbox.read'] }, [...conversationNames, 'task.due']],
    [{ scopes: ['inbox.read'], connectionIds: [other] }, []],
    [{ scopes: ['inbox.read'], connectionIds: [w.connectionId] }, [...conversationNames, 'task.due']],
  ] as const
  for (const [settings, names] of table) {
    const { value } = await addAgent(w, { ...settings, scopes: [...settings.scopes] } as object)
    const { events } = await e.read({ after, events: optInEventNames.join() }, value)
    const seen = events.map(({ event }: { event: string }) => event)
    assert.deepEqual(seen.sort(), [...names].sort(), JSON.stringify(settings))
  }
  const { value } = await w.addKey({ scopes: ['leads.read', 'inbox.read'], phoneVisibility: 'masked' })
  const masked = await e.read({ after, events: optInEventNames.join() }, value)
  assert.equal(masked.events.length, optInEventNames.length)
  assert.doesNotMatch(JSON.stringify(masked), /8765-?0001|5581991234567/)
})

test('`feedEvents` rejects other names and repeats, and belongs to admins', async () => {
  const e = await everything()
  for (const feedEvents of [['lead.created'], ['lead.*'], ['lead.merged', 'lead.merged']]) {
    assert.equal((await e.admin.call('PATCH', '', { feedEvents })).status, 400, feedEvents.join())
  }
  assert.equal((await e.member.call('PATCH', '', { feedEvents: ['lead.merged'] })).status, 403)
})
