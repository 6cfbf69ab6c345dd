import type { ChannelEvent } from '../../channel-event.ts'
import { listOf, objectOf } from '../../waba/json.ts'
import type { Read } from '../../waba/read/reading.ts'
import type { SocketEvent } from '../transport/transport.ts'
import { readContact, readMapping } from './contacts.ts'
import { readHistory } from './history.ts'
import { readMessage } from './messages.ts'
import { readStatus } from './statuses.ts'
import { readUpdate, type SocketUpdate } from './update.ts'

/** What one event of a socket came to. */
export interface ReadEvent {
  /** About the socket itself; null when the event says nothing of it. */
  update: SocketUpdate | null
  /**
   * In the order they came. Nothing here knows which messages are ours: an `echo` under an id that we chose is
   * none, and a `status` has no correlator yet.
   */
  events: ChannelEvent[]
  /** Kinds of items that were passed over, with a reason without values: for the log. */
  skipped: string[]
}

/**
 * Reads one event of a socket. Takes anything: what is not understood is named in `skipped`, and never keeps the rest from
 * being read.
 */
export function readEvent({ event, data }: SocketEvent, now: Date): ReadEvent {
  switch (event) {
    case 'connection.update':
      return { update: readUpdate(data), events: [], skipped: [] }
    case 'messages.upsert':
      return readItems(listOf(objectOf(data).messages), (item) => readMessage(objectOf(item), now))
    case 'messages.update':
      return readItems(listOf(data), (item) => readStatus(objectOf(item), now))
    case 'messaging-history.set':
      return readItems([data], (item) => readHistory(objectOf(item), now))
    case 'contacts.upsert':
    case 'contacts.update':
      return readItems(listOf(data), (item) => readContact(objectOf(item)))
    case 'lid-mapping.update':
      return readItems([data].flat(), (item) => readMapping(objectOf(item)))
    default:
      event satisfies never
      return { update: null, events: [], skipped: ['event that is not read'] }
  }
}

function readItems(items: unknown[], readItem: (item: unknown) => Read): ReadEvent {
  const read: ReadEvent = { update: null, events: [], skipped: [] }
  for (const item of items) {
    for (const one of [readSafely(readItem, item)].flat()) {
      if (typeof one === 'string') read.skipped.push(one)
      else read.events.push(one)
    }
  }
  return read
}

// A fault of ours in one reader must cost that item alone: the network does not tell it again.
function readSafely(readItem: (item: unknown) => Read, item: unknown): Read {
  try {
    return readItem(item)
  } catch {
    return 'item that could not be read'
  }
}
