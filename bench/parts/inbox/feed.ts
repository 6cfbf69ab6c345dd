import type { Db } from '../../../server/src/base/db.ts'
import { writeFeedCursor } from '../../../server/src/events/feed-cursor.ts'
import { recordEvents } from '../../../server/src/events/record.ts'
import { sequenceBatch, sequenceEvents } from '../../../server/src/events/sequence.ts'
import { inboxEvents } from '../../../server/src/inbox/api/event-catalogue.ts'
import { leadEvents } from '../../../server/src/leads/api/event-catalogue.ts'
import type { Filling } from '../../../server/test/support/fill.ts'
import type { Contest } from '../../contest.ts'
import { fillFeedFloor, makeFeedFloor } from '../../floors/feed-floor.ts'
import { requestBytes } from '../../load.ts'

const catalogue = { ...leadEvents, ...inboxEvents }
// A message that came in has more of its kind around it than a lead or a change of owner.
const mix = [
  ...['inbox.message.received', 'inbox.message.sent', 'inbox.message.status', 'inbox.message.status'],
  ...['inbox.message.received', 'lead.created', 'inbox.conversation.owner_changed', 'lead.updated'],
] as (keyof typeof catalogue)[]
const events = 20_000
const pageSize = 50
const pages = events / pageSize - 1

/** A reader that goes through the feed page after page, from its begin again once it is through. */
export async function feed(db: Db, filling: Filling, key: string): Promise<Contest> {
  const { workspaceId } = filling
  const recorded = Array.from({ length: events }, (_, n) => sampleEvent(n, filling.now))
  for (let at = 0; at < events; at += sequenceBatch) {
    const some = recorded.slice(at, at + sequenceBatch)
    await db.tx((tx) => recordEvents(tx, filling.keyring, workspaceId, some, filling.now))
    await sequenceEvents(db, workspaceId)
  }
  await makeFeedFloor(db)
  await fillFeedFloor(db, recorded)
  const headers = { authorization: `Bearer ${key}` }
  const before = (n: number) => (n % pages) * pageSize
  return {
    name: 'feed of events, page of 50',
    product: (n) => requestBytes('GET', `/api/v1/events?after=${writeFeedCursor(workspaceId, before(n))}`, headers),
    floor: (n) => requestBytes('GET', `/events?after=${before(n)}`, {}),
  }
}

function sampleEvent(n: number, now: Date) {
  const name = mix[n % mix.length] ?? 'lead.created'
  const id = `01985e2a-0000-7000-8000-${String(n % 500).padStart(12, '0')}`
  return catalogue[name].sample(id, new Date(now.getTime() - n * 1000))
}
