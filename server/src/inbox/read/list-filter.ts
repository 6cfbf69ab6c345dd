import { createHash } from 'node:crypto'
import type { Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import type { Scope } from '../conversation/conversation.ts'
import type { ConversationStatus } from '../conversation/conversation-state.ts'
import { exactPhoneIndexes, phoneIndexes } from '../conversation/encrypted-conversation.ts'
import type { ColumnSource } from '../conversation/touch.ts'
import type { NameTerm } from '../search/conversation-tokens.ts'

/** What the team's lists are cut into; `mine` is what is assigned to this member. */
export type InboxView = { mine: string } | 'unassigned' | 'agents'

/** A search by name or number, as it was typed, and as it is read. */
export interface NamedSearch {
  text: string
  /** Null when nothing can be found by it. */
  term: NameTerm | null
  /** Customers with one of these numbers are found too, in any common spelling. */
  phones: readonly string[]
}

/** Which conversations a list shows. Every field that is set narrows it. */
export interface ConversationFilter {
  connectionId: string | null
  /** Digits, in this very spelling. */
  phone: string | null
  /** What the row of the list says, or one of the customer's numbers. */
  named: NamedSearch | null
  /** `agent` is any agent. */
  owner: 'human' | 'agent' | { keyId: string } | null
  /** One of these. */
  statuses: readonly ConversationStatus[] | null
  updatedAfter: Date | null
  assignedTo: { userId: string } | 'nobody' | null
  labelId: string | null
  view: InboxView | null
  unreadOnly: boolean
  unansweredOnly: boolean
}

/** Shows everything. */
export const noFilter: ConversationFilter = {
  connectionId: null,
  phone: null,
  named: null,
  owner: null,
  statuses: null,
  updatedAfter: null,
  assignedTo: null,
  labelId: null,
  view: null,
  unreadOnly: false,
  unansweredOnly: false,
}

/** The condition on `conversations c`, read in one of both ways, that a filter makes within what the caller sees. */
export function filterCondition(
  sql: Sql,
  keyring: Keyring,
  scope: Scope,
  filter: ConversationFilter,
  { updatedAt, unreadCount, unansweredSince }: ColumnSource,
) {
  const { connectionId, phone, statuses, updatedAfter, labelId } = filter
  const { connectionIds } = scope
  return sql`
    c.workspace_id = ${scope.workspaceId}
      ${connectionIds.length === 0 ? sql`` : sql`and c.connection_id = any (${[...connectionIds]}::uuid[])`}
      ${connectionId === null ? sql`` : sql`and c.connection_id = ${connectionId}`}
      ${phone === null ? sql`` : phoneCondition(sql, keyring, phone)}
      ${ownerCondition(sql, filter.owner)}
      ${statusCondition(sql, statuses)}
      ${updatedAfter === null ? sql`` : sql`and ${updatedAt(sql)} > ${updatedAfter}`}
      ${assigneeCondition(sql, filter.assignedTo)}
      ${labelId === null ? sql`` : sql`and c.label_ids <> '{}' and c.label_ids @> array[${labelId}::uuid]`}
      ${viewCondition(sql, filter.view)}
      ${filter.unreadOnly ? sql`and ${unreadCount(sql)} > 0` : sql``}
      ${filter.unansweredOnly ? sql`and ${unansweredSince(sql)} is not null` : sql``}`
}

// They are found by the phone in any spelling: there is one on each connection.
const phoneCondition = (sql: Sql, keyring: Keyring, phone: string) => sql`
  and c.phone_index is not null
    and c.phone_index = any (${byteaArray(phoneIndexes(keyring, phone))}::bytea[])
    and c.phone_exact_index = any (${byteaArray(exactPhoneIndexes(keyring, phone))}::bytea[])`

function ownerCondition(sql: Sql, owner: ConversationFilter['owner']) {
  if (owner === null) return sql``
  if (owner === 'human') return sql`and c.owner_key_id is null`
  return owner === 'agent' ? sql`and c.owner_key_id is not null` : sql`and c.owner_key_id = ${owner.keyId}`
}

// One status is compared by itself: the indexes that begin with it then give the order as well.
function statusCondition(sql: Sql, statuses: ConversationFilter['statuses']) {
  if (statuses === null) return sql``
  const [only, ...others] = statuses
  return others.length === 0 && only !== undefined
    ? sql`and c.status = ${only}`
    : sql`and c.status = any (${[...statuses]}::text[])`
}

function assigneeCondition(sql: Sql, assignedTo: ConversationFilter['assignedTo']) {
  if (assignedTo === null) return sql``
  return assignedTo === 'nobody' ? sql`and c.assigned_to is null` : sql`and c.assigned_to = ${assignedTo.userId}`
}

function viewCondition(sql: Sql, view: InboxView | null) {
  if (view === null) return sql``
  if (view === 'unassigned') return sql`and c.owner_key_id is null and c.assigned_to is null`
  return view === 'agents' ? sql`and c.owner_key_id is not null` : sql`and c.assigned_to = ${view.mine}`
}

/** Tells two filters apart in a cursor, without the cursor holding what was asked for. */
export function filterDigest({ named, ...filter }: ConversationFilter): string {
  // Of a search what was typed: which leads it finds may change from page to page.
  const asked = { ...filter, search: named?.text }
  return createHash('sha256').update(JSON.stringify(asked)).digest('base64url').slice(0, 12)
}
