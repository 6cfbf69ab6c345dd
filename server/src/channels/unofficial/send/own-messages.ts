import type { ChannelEvent } from '../../channel-event.ts'
import { mayBePreset } from './preset-id.ts'
import type { SendEnd } from './sends.ts'

type Status = Extract<ChannelEvent, { type: 'status' }>

/** Ids among the events that may be those of our own messages. */
export function presetIdsIn(events: readonly ChannelEvent[]): string[] {
  const ids = events.flatMap((event) =>
    'externalId' in event && mayBePreset(event.externalId) ? [event.externalId] : [],
  )
  return [...new Set(ids)]
}

/**
 * Sets what we sent ourselves apart from what a person wrote on the phone: of ours only the status counts. `own` are our
 * ids with their correlators, by which a status finds a message whose outcome was unknown.
 */
export function tellOwnApart(events: readonly ChannelEvent[], own: ReadonlyMap<string, string | null>): ChannelEvent[] {
  return events.flatMap((event): ChannelEvent[] => {
    if (!('externalId' in event) || !own.has(event.externalId)) return [event]
    const correlator = own.get(event.externalId) ?? null
    switch (event.type) {
      case 'status':
        return [{ ...event, correlator }]
      case 'echo':
        return [statusOf(event, 'sent', correlator)]
      case 'history':
        return event.status === 'pending' ? [] : [statusOf(event, event.status, correlator)]
      case 'message':
        // Somebody else's message under an id of ours: whoever made it up gets nothing by it.
        return [event]
      default:
        return event satisfies never
    }
  })
}

function statusOf(
  { externalId, at, customer }: Extract<ChannelEvent, { externalId: string; at: Date }>,
  status: Status['status'],
  correlator: string | null,
): Status {
  // Why it failed is told where it fails, not in a history.
  const errorCode = status === 'failed' ? 'unknown' : null
  return { type: 'status', externalId, status, errorCode, at, correlator, customer }
}

/** What statuses of our own messages mean for those who wait for them. */
export function endsOf(events: readonly ChannelEvent[], own: ReadonlyMap<string, string | null>): SendEnd[] {
  const ends = new Map<string, SendEnd>()
  for (const event of events) {
    if (event.type !== 'status' || !own.has(event.externalId)) continue
    const { externalId: id, status, errorCode } = event
    if (status === 'failed') ends.set(id, { id, state: 'refused', errorCode: errorCode ?? 'unknown' })
    else ends.set(id, { id, state: 'accepted', errorCode: null })
  }
  return [...ends.values()]
}
