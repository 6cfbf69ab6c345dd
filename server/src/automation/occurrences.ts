import type { Sql } from '../base/db.ts'
import { decryptOrNull } from '../base/encryption/encrypt.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { firstIdAt } from '../base/id.ts'
import type { EventName } from '../events/record.ts'
import type { ActivityDetail } from '../inbox/conversation/commit-change.ts'
import type { WorkspaceSql } from '../inbox/conversation/conversation.ts'
import type { Trigger } from './rule-schema.ts'

/** Something that can start rules. */
export interface Occurrence {
  trigger: Trigger
  /** A rule acts once for each key. */
  key: string
  at: Date
  conversationId: string | null
  leadId: string | null
  /** The event of the feed; null for others. */
  eventId: string | null
  /** Who caused it; null: unknown. A rule is `system` with its id. */
  actor: { type: string; id: string | null } | null
  message: { kind: string; text: string } | null
  /** The message that it is about, of which the template and the author are read. */
  messageId: string | null
  addedLabelIds: readonly string[] | null
  /** The rule whose time has passed; null: all with the trigger. */
  onlyRuleId: string | null
}

const nothingElse = {
  ...{ leadId: null, eventId: null, actor: null, message: null, messageId: null, addedLabelIds: null },
  onlyRuleId: null,
}

/** Events of the feed that start rules with these triggers. */
const feedEvents: Partial<Record<Trigger, readonly EventName[]>> = {
  message_received: ['inbox.message.received'],
  conversation_created: ['inbox.message.received', 'inbox.message.sent'],
  owner_changed: ['inbox.conversation.owner_changed'],
  message_failed: ['inbox.message.status'],
  lead_created: ['lead.created'],
  lead_updated: ['lead.updated'],
  lead_status_changed: ['lead.updated'],
}

export const isOfFeed = (trigger: Trigger): boolean => feedEvents[trigger] !== undefined

/** Kinds of recorded changes that start rules with these triggers. */
const activityKinds: Partial<Record<Trigger, ActivityDetail['kind']>> = {
  status_changed: 'status',
  label_added: 'labels',
  assignee_changed: 'assignee',
}

const namesOf = (triggers: ReadonlySet<Trigger>): EventName[] => [
  ...new Set([...triggers].flatMap((trigger) => feedEvents[trigger] ?? [])),
]

interface FeedRow {
  position: number
  id: string
  name: EventName
  subject_id: string
  occurred_at: Date
  actor_type: string | null
  actor_id: string | null
  payload: Buffer
}

const feedColumns = (sql: Sql) => sql`position, id, name, subject_id, occurred_at, actor_type, actor_id, payload`

/** Positions that are read at once, and events of them. */
const stretch = 5000
const maxEvents = 200

/** Reads the next events that can start one of the triggers, and the position up to which none is left out. */
export async function readFeedAfter(
  reader: WorkspaceSql,
  position: number,
  triggers: ReadonlySet<Trigger>,
): Promise<{ found: Occurrence[]; position: number; hasMore: boolean }> {
  const { sql, workspaceId } = reader
  const [feed] = await sql<{ last: number }[]>`
    select last_position as last
    from event_feeds
    where workspace_id = ${workspaceId}`
  const last = feed?.last ?? 0
  const upTo = Math.min(position + stretch, last)
  const names = namesOf(triggers)
  // A database that was restored may have a shorter feed.
  if (upTo <= position || names.length === 0) return { found: [], position: last, hasMore: false }
  const rows = await sql<FeedRow[]>`
    select ${feedColumns(sql)}
    from events
    where workspace_id = ${workspaceId}
      and position > ${position}
      and position <= ${upTo}
      and test_endpoint_id is null
      and name = any (${names}::text[])
    order by position
    limit ${maxEvents}`
  const reached = rows.length === maxEvents ? (rows.at(-1)?.position ?? upTo) : upTo
  return {
    found: rows.flatMap((row) => occurrencesOf(reader.keyring, row, triggers)),
    position: reached,
    hasMore: reached < last,
  }
}

/** Returns the newest events that can start a trigger, newest first. */
export async function readNewestOfFeed(reader: WorkspaceSql, trigger: Trigger, limit: number) {
  const { sql, workspaceId, keyring } = reader
  const triggers = new Set([trigger])
  const rows = await sql<FeedRow[]>`
    select ${feedColumns(sql)}
    from events
    where workspace_id = ${workspaceId}
      and position is not null
      and test_endpoint_id is null
      and name = any (${namesOf(triggers)}::text[])
    order by position desc
    limit ${limit}`
  return rows.flatMap((row) => occurrencesOf(keyring, row, triggers))
}

interface MessagePayload {
  conversation: { id: string }
  message: { id: string; kind: string; text: string }
  actor?: Occurrence['actor']
}

/** Returns nothing for an event whose payload cannot be decrypted because its row was altered. */
function occurrencesOf(keyring: Keyring, row: FeedRow, triggers: ReadonlySet<Trigger>): Occurrence[] {
  const place = { table: 'events', row: row.id, column: 'payload' }
  const json = decryptOrNull(() => keyring.decryptText(place, row.payload))
  if (json === null) return []
  const payload = JSON.parse(json) as Record<string, unknown>
  const common = { ...nothingElse, key: row.id, at: row.occurred_at, eventId: row.id, conversationId: row.subject_id }
  const all = listOccurrences(row, payload, common)
  return all.filter(({ trigger }) => triggers.has(trigger))
}

function listOccurrences(
  row: FeedRow,
  payload: Record<string, unknown>,
  common: Omit<Occurrence, 'trigger'>,
): Occurrence[] {
  const actor = (payload.actor ?? null) as Occurrence['actor']
  switch (row.name) {
    case 'inbox.message.received': {
      const { message } = payload as unknown as MessagePayload
      const received = { ...common, actor: { type: 'customer', id: null }, message, messageId: message.id }
      return [
        { ...received, trigger: 'conversation_created', key: row.subject_id },
        { ...received, trigger: 'message_received' },
      ]
    }
    case 'inbox.message.sent': {
      const { message } = payload as unknown as MessagePayload
      return [{ ...common, actor, message, trigger: 'conversation_created', key: row.subject_id }]
    }
    case 'inbox.conversation.owner_changed':
      return [{ ...common, actor, trigger: 'owner_changed' }]
    case 'inbox.message.status':
      if (payload.status !== 'failed') return []
      return [{ ...common, trigger: 'message_failed', messageId: String(payload.message_id) }]
    case 'lead.created':
    case 'lead.updated': {
      const by = row.actor_type === null ? null : { type: row.actor_type, id: row.actor_id }
      const ofLead = { ...common, conversationId: null, leadId: row.subject_id, actor: by }
      if (row.name === 'lead.created') return [{ ...ofLead, trigger: 'lead_created' }]
      const updated = { ...ofLead, trigger: 'lead_updated' } as const
      return payload.previousStatus === undefined
        ? [updated]
        : [updated, { ...updated, trigger: 'lead_status_changed' }]
    }
    default:
      return []
  }
}

interface ActivityRow {
  id: string
  conversation_id: string
  detail: ActivityDetail
  reason: string | null
  actor_type: string
  actor_id: string | null
  created_at: Date
}

const activityColumns = (sql: Sql) => sql`id, conversation_id, detail, reason, actor_type, actor_id, created_at`

/** A change may commit this long after its time: longer than any transaction may take. */
export const commitDelayMs = 120_000
const maxActivities = 1000

/**
 * Reads recorded changes of conversations after a time. They have no order of commits: the caller starts early enough,
 * and knows which of them it has seen.
 */
export async function readActivitiesSince(
  { sql, workspaceId }: WorkspaceSql,
  since: Date,
  triggers: ReadonlySet<Trigger>,
  afterId = firstIdAt(since),
): Promise<{ found: Occurrence[]; nextId: string | null }> {
  const kinds = kindsOf(triggers)
  if (kinds.length === 0) return { found: [], nextId: null }
  const rows = await sql<ActivityRow[]>`
    select ${activityColumns(sql)}
    from conversation_activities
    where workspace_id = ${workspaceId}
      and id > ${afterId}
      and kind = any (${kinds}::text[])
    order by id
    limit ${maxActivities}`
  const found = rows.flatMap(activityOccurrences).filter(({ trigger }) => triggers.has(trigger))
  return { found, nextId: rows.length === maxActivities ? (rows.at(-1)?.id ?? null) : null }
}

const kindsOf = (triggers: ReadonlySet<Trigger>) => [...triggers].flatMap((trigger) => activityKinds[trigger] ?? [])

/** Returns the newest recorded changes that can start a trigger, newest first. */
export async function readNewestActivities({ sql, workspaceId }: WorkspaceSql, trigger: Trigger, limit: number) {
  const rows = await sql<ActivityRow[]>`
    select ${activityColumns(sql)}
    from conversation_activities
    where workspace_id = ${workspaceId}
      and kind = any (${kindsOf(new Set([trigger]))}::text[])
    order by id desc
    limit ${limit}`
  return rows.flatMap(activityOccurrences).filter((one) => one.trigger === trigger)
}

function activityOccurrences(row: ActivityRow): Occurrence[] {
  const { id, detail, reason } = row
  const actor =
    reason === 'customer_wrote' ? { type: 'customer', id: null } : { type: row.actor_type, id: row.actor_id }
  const common = { ...nothingElse, key: id, at: row.created_at, conversationId: row.conversation_id, actor }
  if (detail.kind === 'status') return [{ ...common, trigger: 'status_changed' }]
  if (detail.kind === 'assignee') return [{ ...common, trigger: 'assignee_changed' }]
  if (detail.kind !== 'labels' || detail.added.length === 0) return []
  return [{ ...common, trigger: 'label_added', addedLabelIds: detail.added }]
}

/** An occurrence of a wait. */
export const waitOccurrence = (
  { id, trigger }: { id: string; trigger: Trigger },
  key: string,
  conversationId: string,
  at: Date,
): Occurrence => ({ ...nothingElse, trigger, key, conversationId, at, onlyRuleId: id })
