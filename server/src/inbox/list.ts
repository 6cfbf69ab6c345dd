import { decodeCursor, encodeCursor } from '../base/cursor.ts'
import type { Sql } from '../base/db.ts'
import { invalid } from '../base/errors.ts'
import { isUuid } from '../base/id.ts'
import type { Keyring } from '../base/keyring.ts'
import type { Conversation, Scope } from './conversation.ts'
import { type ConversationFilter, filterCondition, filterDigest } from './list-filter.ts'
import { conversationColumns } from './queries.ts'
import { type ConversationRow, openConversation } from './sealed.ts'

export interface ListRequest {
  filter: ConversationFilter
  limit: number
  cursor: string | null
}

export interface ConversationPage {
  conversations: Conversation[]
  cursor: string | null
}

/** One page, those updated last first; ids break ties. Throws `InvalidInput` for a cursor of another list. */
export async function listConversations(
  sql: Sql,
  keyring: Keyring,
  scope: Scope,
  { filter, limit, cursor }: ListRequest,
): Promise<ConversationPage> {
  const after = cursor === null ? null : readCursor(cursor, filter)
  const rows = await sql<ConversationRow[]>`
    select ${conversationColumns(sql)}
    from conversations c
    where ${filterCondition(sql, keyring, scope, filter)}
      ${after === null ? sql`` : sql`and (c.updated_at, c.id) < (${after.time}::timestamptz, ${after.id}::uuid)`}
    order by c.updated_at desc, c.id desc
    limit ${limit + 1}`
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    conversations: shown.map((row) => openConversation(keyring, row)),
    cursor: last === undefined || rows.length <= limit ? null : writeCursor(last, filter),
  }
}

const sort = 'updated_at desc'

function writeCursor({ updated_at, id }: ConversationRow, filter: ConversationFilter): string {
  return encodeCursor([sort, filterDigest(filter), updated_at.getTime(), id])
}

function readCursor(text: string, filter: ConversationFilter): { time: Date; id: string } {
  const [by, digest, time, id, extra] = decodeCursor(text) ?? []
  const isOurs = by === sort && digest === filterDigest(filter) && extra === undefined
  if (!isOurs || !isTime(time) || typeof id !== 'string' || !isUuid(id)) {
    throw invalid('cursor', 'is not a cursor of this list and these filters', 'query')
  }
  return { time: new Date(time), id }
}

// What PostgreSQL and Date both can hold.
function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= 253_402_300_799_999
}
