import type { Db } from '../../../server/src/base/db.ts'
import { feedState } from '../../../server/src/events/feed.ts'
import { writeFeedCursor } from '../../../server/src/events/read-page.ts'
import { recordEvents } from '../../../server/src/events/record.ts'
import { sequenceBatch, sequenceEvents } from '../../../server/src/events/sequence.ts'
import { inboxEvents } from '../../../server/src/inbox/api/inbox-event-catalog.ts'
import { leadEvents } from '../../../server/src/leads/lead/events.ts'
import { fillFeedBaseline, makeFeedBaseline } from '../../baselines/feed-baseline.ts'
import type { Comparison } from '../../comparison.ts'
import type { Filling } from '../../fill.ts'
import { requestBytes } from '../../load.ts'

const catalog = { ...leadEvents, ...inboxEvents }
// Near a received message there are more events of its kind than near a lead or a change of owner.
const mix = [
  ...['inbox.message.received', 'inbox.message.sent', 'inbox.message.status', 'inbox.message.status'],
  ...['inbox.message.received', 'lead.created', 'inbox.conversation.owner_changed', 'lead.updated'],
] as (keyof typeof catalog)[]
const events = 20_000
const pageSize = 50
const pages = events / pageSize - 1

/** Maximum time until the events of earlier contests are sequenced. */
const sequencingTimeoutMs = 60_000

/** Contests of readers that page through the whole feed repeatedly, and of readers that follow its end. */
export async function feeds(db: Db, filling: Filling, key: string): Promise<Comparison[]> {
  const { workspaceId } = filling
  const recorded = Array.from({ length: events }, (_, n) => sampleEvent(n, filling.now))
  for (let at = 0; at < events; at += sequenceBatch) {
    const some = recorded.slice(at, at + sequenceBatch)
    await db.tx((tx) => recordEvents(tx, filling.keyring, workspaceId, some, filling.now))
    await sequenceEvents(db, workspaceId)
  }
  await makeFeedBaseline(db)
  await fillFeedBaseline(db, recorded)
  const headers = { authorization: `Bearer ${key}` }
  const before = (n: number) => (n % pages) * pageSize
  const product = (after: number) =>
    requestBytes('GET', `/api/v1/events?after=${writeFeedCursor(workspaceId, after)}`, headers)
  const baseline = (after: number) => requestBytes('GET', `/events?after=${after}`, {})
  let head = 0
  return [
    {
      name: 'feed of events, page of 50',
      prepare: async () => void (await sequenceAllEvents(db, workspaceId)),
      product: (n) => product(before(n)),
      baseline: (n) => baseline(before(n)),
    },
    {
      name: 'feed of events, the newest 50',
      prepare: async () => {
        head = (await sequenceAllEvents(db, workspaceId)) - pageSize
      },
      product: () => product(head),
      baseline: () => baseline(events - pageSize),
    },
  ]
}

/** Waits until the events of earlier contests are sequenced; returns the last position. */
async function sequenceAllEvents(db: Db, workspaceId: string): Promise<number> {
  const until = Date.now() + sequencingTimeoutMs
  while ((await sequenceEvents(db, workspaceId)) > 0) {
    if (Date.now() > until) throw new Error('The events were not sequenced in time')
  }
  return (await feedState(db.sql, workspaceId)).last
}

function sampleEvent(n: number, now: Date) {
  const name = mix[n % mix.length] ?? 'lead.created'
  const id = `01985e2a-0000-7000-8000-${String(n % 500).padStart(12, '0')}`
  return catalog[name].sample(id, new Date(now.getTime() - n * 1000))
}
