import { createHash } from 'node:crypto'
import { byteaArray, type Sql } from '../base/db.ts'
import type { Keyring } from '../base/keyring.ts'
import type { Scope } from './conversation.ts'
import type { ConversationStatus } from './conversation-status.ts'
import { exactPhoneIndexes } from './sealed.ts'

/** Which conversations a list shows. Every field that is set narrows it. */
export interface ConversationFilter {
  connectionId: string | null
  /** Digits, in this very spelling. */
  phone: string | null
  /** `agent` is any agent. */
  owner: 'human' | 'agent' | { keyId: string } | null
  status: ConversationStatus | null
  updatedAfter: Date | null
  assignedTo: string | null
  labelId: string | null
  unreadOnly: boolean
  unansweredOnly: boolean
}

/** Shows everything. */
export const noFilter: ConversationFilter = {
  connectionId: null,
  phone: null,
  owner: null,
  status: null,
  updatedAfter: null,
  assignedTo: null,
  labelId: null,
  unreadOnly: false,
  unansweredOnly: false,
}

/** The condition on `conversations c` that a filter makes within what the caller sees. */
export function filterCondition(sql: Sql, keyring: Keyring, scope: Scope, filter: ConversationFilter) {
  const { connectionId, phone, status, updatedAfter, assignedTo, labelId } = filter
  const { connectionIds } = scope
  return sql`
    c.workspace_id = ${scope.workspaceId}
      ${connectionIds.length === 0 ? sql`` : sql`and c.connection_id = any (${[...connectionIds]}::uuid[])`}
      ${connectionId === null ? sql`` : sql`and c.connection_id = ${connectionId}`}
      ${phone === null ? sql`` : sql`and c.phone_exact_index is not null and c.phone_exact_index = any (${byteaArray(sql, exactPhoneIndexes(keyring, phone))}::bytea[])`}
      ${ownerCondition(sql, filter.owner)}
      ${status === null ? sql`` : sql`and c.status = ${status}`}
      ${updatedAfter === null ? sql`` : sql`and c.updated_at > ${updatedAfter}`}
      ${assignedTo === null ? sql`` : sql`and c.assigned_to = ${assignedTo}`}
      ${labelId === null ? sql`` : sql`and ${labelId}::uuid = any (c.label_ids)`}
      ${filter.unreadOnly ? sql`and c.unread_count > 0` : sql``}
      ${filter.unansweredOnly ? sql`and c.unanswered_since is not null` : sql``}`
}

function ownerCondition(sql: Sql, owner: ConversationFilter['owner']) {
  if (owner === null) return sql``
  if (owner === 'human') return sql`and c.owner_key_id is null`
  return owner === 'agent' ? sql`and c.owner_key_id is not null` : sql`and c.owner_key_id = ${owner.keyId}`
}

/** Tells two filters apart in a cursor, without the cursor holding what was asked for. */
export function filterDigest(filter: ConversationFilter): string {
  return createHash('sha256').update(JSON.stringify(filter)).digest('base64url').slice(0, 12)
}
