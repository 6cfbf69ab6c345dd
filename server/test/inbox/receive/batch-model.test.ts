import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Tx } from '../../../src/base/db.ts'
import { noKeywords } from '../../../src/inbox/consent/keywords.ts'
import { applyAlone } from '../../../src/inbox/receive/apply-batch.ts'
import { type CustomerEvent, groupByCustomer } from '../../../src/inbox/receive/receiver.ts'
import { noService } from '../../../src/workspaces/service/service-settings.ts'
import { declaredPicture } from '../../support/inbox/declared-files.ts'
import { receiveBatch } from '../../support/inbox/delivery-batch.ts'
import { addAgent, customerMessage, type InboxWorld, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { inboxSnapshot } from './inbox-snapshot.ts'

// Batched decisions in memory must equal decisions made one by one with the database.

const runs = {
  numRuns: Number(process.env.MODEL_RUNS ?? 8),
  interruptAfterTimeLimit: 60_000,
  markInterruptAsFailure: false,
}

interface Told {
  who: number
  what:
    | ('message' | 'notice' | 'echo' | 'history' | 'media' | 'call' | 'named')
    | ('picture' | 'reaction' | 'edit' | 'withdrawal' | 'phone edit' | 'phone withdrawal' | 'lift')
  /** A small range, so that some repeat. */
  id: number
  secondsAgo: number
  name: string | null
}

type Names = 'phone' | 'variant' | 'hidden' | 'both' | 'another user'

interface Moment {
  /** Whether conversations are closed before. */
  isClosed: boolean
  /** How each customer is identified in this step. */
  names: Names[]
  deliveries: Told[][]
}

const what = fc.constantFrom<Told['what']>(
  'message',
  'message',
  'message',
  'notice',
  'echo',
  'history',
  'media',
  'call',
  'named',
  'picture',
  'reaction',
  'edit',
  'withdrawal',
  'phone edit',
  'phone withdrawal',
  'lift',
)
const told: fc.Arbitrary<Told> = fc.record({
  who: fc.nat(3),
  what,
  id: fc.nat(6),
  secondsAgo: fc.nat(4),
  name: fc.constantFrom(null, 'Ana', 'Ana Souza'),
})
const names = fc.constantFrom<Names>('phone', 'phone', 'variant', 'hidden', 'both', 'another user')
const moment: fc.Arbitrary<Moment> = fc.record({
  isClosed: fc.boolean(),
  names: fc.array(names, { minLength: 4, maxLength: 4 }),
  deliveries: fc.array(fc.array(told, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 }),
})

test('batching has the same result as applying each customer’s events one after the other', async (t) => {
  let histories = 0
  const moments = fc.array(moment, { minLength: 1, maxLength: 4 })
  const property = fc.asyncProperty(moments, fc.boolean(), async (list, hasAgent) => {
    histories++
    const [one, other] = [await worldWith(hasAgent), await worldWith(hasAgent)]
    for (const { isClosed, names: known, deliveries } of list) {
      one.clock.advance(60_000)
      const lists = deliveries.map((each) => each.map((event) => eventOf(one, event, known[event.who] ?? 'phone')))
      for (const w of [one, other]) if (isClosed) await close(w)
      assert.ok((await receiveBatch(one, lists)).every(Boolean))
      await applyInTurn(other, lists.flat())
      assert.deepEqual(await inboxSnapshot(one), await inboxSnapshot(other))
    }
  })
  await fc.assert(property, runs)
  t.diagnostic(`${histories} histories`)
})

async function worldWith(hasAgent: boolean): Promise<InboxWorld> {
  const w = await inboxWorld()
  if (hasAgent) await addAgent(w)
  return w
}

async function close({ db, workspaceId }: InboxWorld): Promise<void> {
  await db.sql`update conversations set status = 'closed' where workspace_id = ${workspaceId}`
}

/** Does what `receive` does without batching. */
async function applyInTurn(w: InboxWorld, events: readonly CustomerEvent[]): Promise<void> {
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const receiver = { workspaceId: w.workspaceId, id: w.connectionId, channel: 'waba' } as const
  const context = { keyring, workspaceId: w.workspaceId, receiver, keywords: noKeywords, service: noService }
  for (const group of groupByCustomer(events)) {
    await w.db.tx((tx: Tx) => applyAlone({ ...context, tx, now: w.clock.now() }, group))
  }
}

function eventOf(w: InboxWorld, { who, what: type, id, secondsAgo, name }: Told, by: Names): CustomerEvent {
  const at = new Date(w.clock.now().getTime() - secondsAgo * 1000)
  const userIds: Partial<Record<Names, string>> = {
    hidden: `BR.${who}`,
    both: `BR.${who}`,
    'another user': `BR.1${who}`,
  }
  const userId = userIds[by] ?? null
  const shown = by === 'variant' ? `551188887${100 + who}` : `5511988887${100 + who}`
  const phone = by === 'hidden' ? null : shown
  const customer = { userId, parentUserId: null, phone, name }
  const said = { externalId: `wamid.${who}.${id}`, customer, text: `${type} ${id}`, at }
  const about = id % 2
  const revised = { originalId: `wamid.${who}.${id}`, customer, at }
  switch (type) {
    case 'message':
      return customerMessage(said)
    case 'notice':
      return customerMessage({ ...said, kind: 'system', opensWindow: false })
    case 'echo':
      return { ...said, type: 'echo', kind: 'text' }
    case 'history':
      return { ...said, type: 'history', kind: 'system', direction: 'inbound', status: 'read' }
    case 'media':
      return { ...said, type: 'history', kind: 'image', direction: 'inbound', status: 'read' }
    case 'picture':
      return customerMessage({ ...said, kind: 'image', detail: { media: declaredPicture } })
    case 'reaction':
      return customerMessage({ ...said, detail: { reaction: { externalId: `wamid.${who}.${about}`, emoji: '👍' } } })
    case 'edit':
    case 'phone edit':
      return { ...revised, type: 'edited', direction: type === 'edit' ? 'inbound' : 'outbound', text: `${name} ${id}` }
    case 'withdrawal':
    case 'phone withdrawal':
      return { ...revised, type: 'withdrawn', direction: type === 'withdrawal' ? 'inbound' : 'outbound' }
    case 'lift':
      return { ...revised, originalId: `wamid.${who}.${about}`, type: 'reaction_lifted', direction: 'inbound' }
    case 'call':
      return { type: 'contact_opened', customer, at }
    case 'named':
      return { type: 'contact_named', customer }
    default:
      return type satisfies never
  }
}
