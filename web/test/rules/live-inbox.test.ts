import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import type { ConversationList } from '../../src/data/inbox/list-rules.ts'
import type { Conversation, ConversationFilter } from '../../src/data/inbox/types.ts'

const [userId, leadId, phone] = ['u', 'l', '5511966601235']

// The client of the API takes its address and `fetch` when it is loaded.
const { fetch } = globalThis
const answer = async () => Response.json({ user: { id: userId } })
Object.assign(globalThis, { window: { location: { origin: 'http://parley.test' } }, fetch: answer })
const { createEventHandler } = await import('../../src/data/inbox/live.ts')
const { listKey } = await import('../../src/data/inbox/cache.ts')
const { currentSequence, listWithLiveChanges } = await import('../../src/data/inbox/live-changes.ts')
const { refreshSession } = await import('../../src/session/session.ts')
// Other files of this process are not in a browser.
Reflect.deleteProperty(globalThis, 'window')
Object.assign(globalThis, { fetch })

const filter: ConversationFilter = { view: 'all', status: 'open', sort: 'recent' }
const minute = '2026-08-03T12:00:00.000Z'

test('a row that was read before its lead was renamed is corrected, even if it arrives after the new name', async (t) => {
  const { rename, rowNow, receive, shown, pass } = await openInbox(t)
  assert.equal(shown(), 'Benedita')
  const old = rowNow()
  await rename('Quaresma')
  assert.equal(shown(), 'Benedita Quaresma')
  await receive('team.conversation.changed', { conversation: old })
  await pass()
  assert.equal(shown(), 'Benedita Quaresma')
  // Also while another row waits in the batch.
  await receive('team.conversation.changed', { conversation: rowNow() })
  await receive('team.conversation.changed', { conversation: old })
  await pass()
  assert.equal(shown(), 'Benedita Quaresma')
})

test('a row of a lead that changed long ago, or with its name, is not read again', async (t) => {
  const { rename, rowNow, receive, readings, pass } = await openInbox(t)
  await rename('Quaresma')
  await pass()
  const before = readings()
  await receive('team.conversation.changed', { conversation: rowNow() })
  await pass()
  assert.equal(readings(), before)
  const later = performance.now() + 60_000
  t.mock.method(performance, 'now', () => later)
  await receive('team.conversation.changed', { conversation: { ...rowNow(), contact: { name: 'Other', phone } } })
  await pass()
  assert.equal(readings(), before)
})

/** Opens a list with one conversation, which the server returns as its lead is called at that time. */
async function openInbox(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  await refreshSession()
  const inbox = { queries: new QueryClient(), workspaceId: t.name }
  const queryKey = listKey(inbox.workspaceId, filter)
  let lastName: string | null = null
  let readings = 0
  const rowNow = (): Conversation => {
    const nobody = { owner: 'human', assignedTo: null, labelIds: [], unreadCount: 0, unansweredSince: null }
    const times = { lastMessageAt: minute, createdAt: minute, updatedAt: minute }
    const contact = { name: lastName === null ? 'Benedita' : `Benedita ${lastName}`, phone }
    const place = { id: 'c', connectionId: 'n', status: 'open', leadId, contact, lastMessage: null }
    return { ...place, ...nobody, ...times } as unknown as Conversation
  }
  const queryFn = async () => {
    readings++
    const requestedAt = currentSequence()
    return listWithLiveChanges(inbox, { rows: [rowNow()], cursor: null }, requestedAt, filter, userId)
  }
  const options = { queryKey, queryFn, staleTime: Number.POSITIVE_INFINITY, gcTime: Number.POSITIVE_INFINITY }
  t.after(new QueryObserver(inbox.queries, options).subscribe(() => {}))
  await settled()
  const handle = createEventHandler(inbox)
  const receive = async (event: string, payload: object) => {
    handle({ id: '', event, occurred_at: minute, payload: { ...payload } })
    await settled()
  }
  return {
    rowNow,
    receive,
    rename: async (name: string) => {
      lastName = name
      await receive('lead.updated', { id: leadId, firstName: 'Benedita', lastName: name, phone })
    },
    /** Lets all throttles run out. */
    pass: async () => {
      for (let n = 0; n < 8; n++) {
        t.mock.timers.tick(300)
        await settled()
      }
    },
    shown: () => inbox.queries.getQueryData<ConversationList>(queryKey)?.rows[0]?.contact.name,
    readings: () => readings,
  }
}

/** Runs all pending microtasks. */
const settled = () => new Promise((resolve) => setImmediate(resolve))
