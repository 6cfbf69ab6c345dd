import type { ChannelEvent, Delivered, Parsed } from '../../channel-event.ts'
import { type Loose, listOf, objectOf, tokenOf } from '../json.ts'
import { accountOf, readAccountUpdate, readContactSync, readPreference } from './account.ts'
import { readHistory, readHistoryMessage } from './history.ts'
import { readCall, readEcho, readMessage, readStatus } from './messages.ts'
import { type Read, type Reading, readNumber } from './reading.ts'
import { readUserIdUpdate } from './system.ts'

type ReadItem = (reading: Reading, item: Loose) => Read

/** Field of a change to its lists of items, and what reads one. */
const itemReaders: Record<string, Record<string, ReadItem>> = {
  messages: { messages: readMessage, statuses: readStatus },
  smb_message_echoes: { message_echoes: readEcho },
  smb_app_state_sync: { state_sync: readContactSync },
  history: { history: readHistory, messages: readHistoryMessage },
  calls: { calls: readCall },
  user_preferences: { user_preferences: readPreference },
  user_id_update: { user_id_update: readUserIdUpdate, user_id_updates: readUserIdUpdate },
}

const templateHints = new Set([
  'message_template_status_update',
  'message_template_quality_update',
  'message_template_components_update',
  'template_category_update',
])

/**
 * Reads one callback of the platform. Takes anything: what is not understood is named in `skipped`, and never keeps
 * the rest from being read.
 */
export function parse(payload: unknown, now: Date): Parsed {
  const parsed: Parsed = { items: [], skipped: [] }
  const { object, entry } = objectOf(payload)
  if (object !== 'whatsapp_business_account') return { items: [], skipped: ['not of this platform'] }
  for (const one of listOf(entry)) {
    const { id, changes } = objectOf(one)
    for (const change of listOf(changes)) readChange(parsed, tokenOf(id), objectOf(change), now)
  }
  return { items: withoutRepeats(parsed), skipped: parsed.skipped }
}

function readChange(parsed: Parsed, entryId: string | null, change: Loose, now: Date): void {
  const value = objectOf(change.value)
  const field = tokenOf(change.field) ?? ''
  if (templateHints.has(field)) {
    parsed.items.push({ numberId: null, accountId: entryId, event: { type: 'templates_changed' } })
    return
  }
  if (field === 'account_update') {
    const event = readAccountUpdate(value, now)
    if (event === null) parsed.skipped.push('account update that changes nothing')
    else parsed.items.push({ numberId: null, accountId: accountOf(value, entryId), event })
    return
  }
  const readers = Object.hasOwn(itemReaders, field) ? itemReaders[field] : undefined
  if (readers === undefined) parsed.skipped.push('field that is not read')
  else readItems(parsed, readers, value, now)
}

function readItems(parsed: Parsed, readers: Record<string, ReadItem>, value: Loose, now: Date): void {
  const { numberId, ...shared } = readNumber(value)
  if (listOf(value.errors).length > 0) parsed.skipped.push('error of the number, not of a message')
  for (const [list, readItem] of Object.entries(readers)) {
    for (const item of listOf(value[list])) {
      for (const read of [readSafely(readItem, { ...shared, now }, objectOf(item))].flat()) {
        if (typeof read === 'string') parsed.skipped.push(read)
        else parsed.items.push({ numberId, accountId: null, event: read })
      }
    }
  }
}

// A fault of ours in one reader must cost that item alone: refused, the platform would send all of them for days.
function readSafely(readItem: ReadItem, reading: Reading, item: Loose): Read {
  try {
    return readItem(reading, item)
  } catch {
    return 'item that could not be read'
  }
}

function withoutRepeats({ items, skipped }: Parsed): Delivered[] {
  const seen = new Set<string>()
  return items.filter(({ numberId, event }) => {
    const id = isWritten(event) ? `${numberId} ${event.externalId}` : null
    if (id === null || !seen.has(id)) {
      if (id !== null) seen.add(id)
      return true
    }
    skipped.push('message that is there twice')
    return false
  })
}

function isWritten(event: ChannelEvent): event is Extract<ChannelEvent, { type: 'message' | 'echo' }> {
  return event.type === 'message' || event.type === 'echo'
}
