import { createHash } from 'node:crypto'
import type { Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import type { Priority } from '../../workspaces/service/service-settings.ts'
import type { ColumnSource } from '../conversation/activity-columns.ts'
import type { ScopedSql } from '../conversation/conversation.ts'
import type { ConversationStatus } from '../conversation/conversation-state.ts'
import { exactPhoneIndexes, phoneIndexes, rankOf } from '../conversation/encrypted-conversation.ts'
import type { NameTerm } from '../search/conversation-tokens.ts'

/** Views of the team's list; `mine` is the member whose assigned conversations it shows. */
export type InboxView = { mine: string } | 'unassigned' | 'agents'

/** Search by name or number, as typed and parsed. */
export interface NamedSearch {
  text: string
  /** Null if nothing can match. */
  term: NameTerm | null
  /** Also matches customers with one of these numbers, in any common spelling. */
  phones: readonly string[]
}

/** Filter of a conversation list. Fields combine with AND. */
export interface ConversationFilter {
  connectionId: string | null
  /** Digits, matched exactly. */
  phone: string | null
  /** Search in the name shown in the list, or in the customer's numbers. */
  nameSearch: NamedSearch | null
  /** `agent` means any agent. */
  owner: 'human' | 'agent' | { keyId: string } | null
  /** Any of these. */
  statuses: readonly ConversationStatus[] | null
  updatedAfter: Date | null
  assignedTo: { userId: string } | 'nobody' | null
  /** Id of a team; `none` for conversations of no team. */
  teamId: string | null
  labelId: string | null
  view: InboxView | null
  unreadOnly: boolean
  unansweredOnly: boolean
  priority: Priority | null
  /** Only those with a missed goal that is still to be reached. */
  overdueOnly: boolean
}

export const noFilter: ConversationFilter = {
  connectionId: null,
  phone: null,
  nameSearch: null,
  owner: null,
  statuses: null,
  updatedAfter: null,
  assignedTo: null,
  teamId: null,
  labelId: null,
  view: null,
  unreadOnly: false,
  unansweredOnly: false,
  priority: null,
  overdueOnly: false,
}

/** SQL: the filter's condition on `conversations c` within the scope, for one column source. */
export function filterCondition(
  { sql, keyring, workspaceId, connectionIds }: ScopedSql,
  filter: ConversationFilter,
  { updatedAt, unreadCount, unansweredSince }: ColumnSource,
) {
  const { connectionId, phone, statuses, updatedAfter, labelId } = filter
  return sql`
    c.workspace_id = ${workspaceId}
      ${connectionIds.length === 0 ? sql`` : sql`and c.connection_id = any (${[...connectionIds]}::uuid[])`}
      ${connectionId === null ? sql`` : sql`and c.connection_id = ${connectionId}`}
      ${phone === null ? sql`` : phoneCondition(sql, keyring, phone)}
      ${ownerCondition(sql, filter.owner)}
      ${statusCondition(sql, statuses)}
      ${updatedAfter === null ? sql`` : sql`and ${updatedAt(sql)} > ${updatedAfter}`}
      ${assigneeCondition(sql, filter.assignedTo)}
      ${teamCondition(sql, filter.teamId)}
      ${labelId === null ? sql`` : sql`and c.label_ids <> '{}' and c.label_ids @> array[${labelId}::uuid]`}
      ${viewCondition(sql, filter.view)}
      ${filter.unreadOnly ? sql`and ${unreadCount(sql)} > 0` : sql``}
      ${filter.unansweredOnly ? sql`and ${unansweredSince(sql)} is not null` : sql``}
      ${filter.priority === null ? sql`` : sql`and c.priority = ${rankOf(filter.priority)}`}
      ${filter.overdueOnly ? sql`and c.goal_missed_at is not null` : sql``}`
}

// Looked up by any spelling, which has one row per connection, then compared exactly.
const phoneCondition = (sql: Sql, keyring: Keyring, phone: string) => sql`
  and c.phone_index is not null
    and c.phone_index = any (${byteaArray(phoneIndexes(keyring, phone))}::bytea[])
    and c.phone_exact_index = any (${byteaArray(exactPhoneIndexes(keyring, phone))}::bytea[])`

function ownerCondition(sql: Sql, owner: ConversationFilter['owner']) {
  if (owner === null) return sql``
  if (owner === 'human') return sql`and c.owner_key_id is null`
  return owner === 'agent' ? sql`and c.owner_key_id is not null` : sql`and c.owner_key_id = ${owner.keyId}`
}

// A single status is compared with `=`, so that indexes starting with it also provide the order.
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

function teamCondition(sql: Sql, teamId: string | null) {
  if (teamId === null) return sql``
  return teamId === 'none' ? sql`and c.team_id is null` : sql`and c.team_id = ${teamId}`
}

function viewCondition(sql: Sql, view: InboxView | null) {
  if (view === null) return sql``
  if (view === 'unassigned') return sql`and c.owner_key_id is null and c.assigned_to is null`
  return view === 'agents' ? sql`and c.owner_key_id is not null` : sql`and c.assigned_to = ${view.mine}`
}

/** Returns a digest that identifies a filter in a cursor without revealing it. */
export function filterDigest({ nameSearch, ...filter }: ConversationFilter): string {
  // Includes the typed text only: the leads that match may change between pages.
  const digestInput = { ...filter, search: nameSearch?.text }
  return createHash('sha256').update(JSON.stringify(digestInput)).digest('base64url').slice(0, 12)
}
