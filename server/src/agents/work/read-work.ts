import { rejectKey } from '../../auth/api-keys/caller.ts'
import type { Db, Fragment, Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { decryptHandover, type Handover, type HandoverRow, handoverColumns } from '../../inbox/assignment/handovers.ts'
import type { Conversation } from '../../inbox/conversation/conversation.ts'
import { opaqueWorkspaceId } from '../../inbox/conversation/queries.ts'
import { type Draft, type DraftRow, decryptDraft, draftColumns } from '../../inbox/drafts/draft.ts'
import { decryptNote, type Note } from '../../inbox/notes/notes.ts'
import {
  decryptTeamListItem,
  type TeamListItemRow,
  teamListItemColumns,
} from '../../inbox/read/conversation-list-item.ts'
import {
  decryptMessageView,
  type MessageView,
  type MessageViewRow,
  messageViewColumns,
} from '../../inbox/read/read-messages.ts'
import { feedRange, selectDueWork, type WorkRequest } from './due-work.ts'
import { quietColumns } from './quiet-time.ts'
import { type HeldCandidate, nextWork, type WorkCursor } from './work-cursor.ts'

/** A conversation of the key with the context for an answer. */
export interface WorkItem {
  why: WorkReason
  conversation: Conversation
  /** The newest ones, oldest first. */
  messages: MessageView[]
  hasOlderMessages: boolean
  /** The newest ones, oldest first. */
  notes: Note[]
  /** Message of the handover to the key. */
  handover: Handover | null
  /** The key's newest draft. */
  draft: Draft | null
}

export interface KeyStatus {
  /** False if the key is revoked, expired or lacks `inbox.read`. */
  isActive: boolean
  /** False if the workspace has no inbox, or the inbox is unavailable. */
  hasInbox: boolean
  isStopped: boolean
  isMasked: boolean
  /** Counts the publications of instructions that may concern the key. */
  instructionsVersion: number
  /** Changes when the secret of the key changes. */
  keyHash: string
}

export interface WorkPage {
  keyStatus: KeyStatus
  work: WorkItem[]
  cursor: WorkCursor
  /** More work is available now. */
  hasMore: boolean
  /** When the first customer who is still writing has been silent long enough; null if nothing is held. */
  heldUntil: Date | null
  /** Committed events have no feed position yet; some may be for the key. Only if requested. */
  hasUnsequenced: boolean
  /** The feed was removed beyond the requested position: this is all pending work. */
  isNew: boolean
}

/** Reads the next work of a key, in one statement. */
export async function readWork(
  { sql }: Pick<Db, 'sql'>,
  keyring: Keyring,
  request: WorkRequest,
  checksUnsequenced: boolean,
): Promise<WorkPage> {
  const rows = await selectWork(sql, request, checksUnsequenced)
  const state = rows.find((row) => row.part === 'state')?.row as StateRow | undefined
  if (state === undefined) throw rejectKey('unknown')
  const { from } = request
  const isOutOfReach = ({ position, held: [oldest] }: WorkCursor) =>
    position < state.removed_to || position > state.last || (oldest !== undefined && oldest <= state.removed_to)
  if (from !== null && isOutOfReach(from)) {
    const page = await readWork({ sql }, keyring, { ...request, from: null }, checksUnsequenced)
    return { ...page, isNew: true }
  }
  const [due, held] = [inOrder<PickedRow>(rows, 'picked'), inOrder<HeldCandidate>(rows, 'held')]
  const { reported, cursor, hasMore } = nextWork(from, state, { due, held }, request.limit)
  return {
    keyStatus: {
      isActive: state.is_active,
      hasInbox: state.has_inbox,
      isStopped: state.agents_stopped,
      isMasked: state.phone_visibility === 'masked',
      instructionsVersion: state.instructions_version,
      keyHash: state.key_hash,
    },
    work: reported.map((row) => decryptWork(keyring, rows, row)),
    cursor,
    hasMore,
    heldUntil: held.length === 0 ? null : new Date(Math.min(...held.map(({ until }) => Date.parse(until)))),
    hasUnsequenced: state.unplaced === true,
    isNew: false,
  }
}

const inOrder = <R extends { nth: number }>(rows: readonly PartRow[], part: Part): R[] =>
  filterParts<R>(rows, part)
    .map(({ row }) => row)
    .sort((a, b) => a.nth - b.nth)

function decryptWork(keyring: Keyring, rows: readonly PartRow[], { id, why, conversation }: PickedRow): WorkItem {
  const messages = filterParts<MessageJson>(rows, 'message', id).map(({ row }) =>
    decryptMessageView(keyring, { ...row, conversation_id: id, occurred_at: new Date(row.occurred_at) }),
  )
  messages.sort((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime())
  const notes = filterParts<NoteJson>(rows, 'note', id).map(({ row }) =>
    decryptNote(keyring, { ...row, text: bytesOf(row.text), mentions: [], created_at: new Date(row.created_at) }),
  )
  notes.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1))
  const [handover] = filterParts<HandoverJson>(rows, 'handover', id)
  const [draft] = filterParts<DraftJson>(rows, 'draft', id)
  return {
    why,
    conversation: decryptConversationJson(keyring, conversation),
    messages: messages.slice(-maxMessages),
    hasOlderMessages: messages.length > maxMessages,
    notes,
    handover: handover === undefined ? null : decryptHandoverJson(keyring, handover.row),
    draft: draft === undefined ? null : decryptDraftJson(keyring, draft.row),
  }
}

const decryptConversationJson = (keyring: Keyring, row: PickedRow['conversation']): Conversation =>
  decryptTeamListItem(keyring, {
    ...row,
    snoozed_until: timeOf(row.snoozed_until),
    window_expires_at: timeOf(row.window_expires_at),
    last_message_at: new Date(row.last_message_at),
    updated_at: new Date(row.updated_at),
    owner_since: new Date(row.owner_since),
    unanswered_since: timeOf(row.unanswered_since),
    created_at: new Date(row.created_at),
    thread_at: timeOf(row.thread_at),
    goal_due_at: timeOf(row.goal_due_at),
  })

const decryptHandoverJson = (keyring: Keyring, { words, created_at, ...row }: HandoverJson): Handover =>
  decryptHandover(keyring, { ...row, words: bytesOf(words), created_at: new Date(created_at) })

const decryptDraftJson = (keyring: Keyring, { created_at, decided_at, ...row }: DraftJson): Draft =>
  decryptDraft(keyring, {
    ...row,
    content: bytesOf(row.content),
    decision: row.decision === null ? null : bytesOf(row.decision),
    created_at: new Date(created_at),
    decided_at: timeOf(decided_at),
  })

const timeOf = (text: string | null): Date | null => (text === null ? null : new Date(text))
const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64')

export const maxMessages = 10
export const maxNotes = 10

type WorkReason = 'customer_wrote' | 'draft_decided' | 'scheduled_failed' | 'given_to_you'

/**
 * Selects the next work of a key with its context. Uses one statement, because several would read different snapshots.
 * Returns one row per part, so that parts cost nothing where they do not exist.
 */
function selectWork(sql: Sql, request: WorkRequest, withUnsequenced: boolean): Promise<PartRow[]> {
  const { workspaceId, keyId, limit } = request
  return sql<PartRow[]>`
    with s as materialized (${selectState(sql, request, withUnsequenced)}),
    picked as materialized (
      select w.*,
        row_number() over (order by w.place, w.since, w.id)::integer as nth,
        count(*) filter (where w.held_until is null) over (order by w.place, w.since, w.id)::integer as due_nth
      from (${selectDueWork(sql, request)}) as w
    ),
    told as materialized (
      select id from picked where held_until is null and due_nth <= ${limit}
    )
    select 'state' as part, null::uuid as id, to_json(s) as row
    from s
    union all
    select 'picked', p.id, json_build_object(
        'id', p.id, 'nth', p.nth, 'why', p.why, 'place', p.place, 'since', p.since, 'conversation', to_json(c)
      )
    from picked p
    cross join lateral (
      select ${teamListItemColumns(sql)}
      from conversations c
      where c.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
        and c.id = p.id
      offset 0
    ) as c
    where p.held_until is null
      and p.due_nth <= ${limit + 1}
    union all
    select 'held', p.id, json_build_object(
        'id', p.id, 'nth', p.nth, 'place', p.place, 'since', p.since, 'event_place', p.event_place, 'until', p.held_until
      )
    from picked p
    where p.held_until is not null
    ${selectThreadParts(sql, workspaceId, keyId)}`
}

function selectState(sql: Sql, { workspaceId, keyId, from, now }: WorkRequest, withUnsequenced: boolean): Fragment {
  const unplaced = withUnsequenced
    ? sql`exists (select 1 from events where workspace_id = ${workspaceId} and position is null)`
    : sql`null::boolean`
  return sql`
    select
      coalesce(f.last_position, 0) as last,
      coalesce(f.removed_to, 0) as removed_to,
      least(coalesce(f.last_position, 0), ${from?.position ?? 0}::bigint + ${feedRange}::bigint) as reach,
      ${unplaced} as unplaced,
      w.agents_stopped,
      k.phone_visibility,
      k.connection_ids,
      k.instructions_version + w.instructions_version as instructions_version,
      ${quietColumns(sql, now)},
      encode(k.key_hash, 'hex') as key_hash,
      a.is_active,
      a.has_inbox,
      a.is_active and a.has_inbox and not w.agents_stopped as may_work
    from workspaces w
    join api_keys k on k.workspace_id = w.id and k.id = ${keyId}
    left join event_feeds f on f.workspace_id = w.id
    cross join lateral (
      select k.revoked_at is null
        and (k.expires_at is null or k.expires_at > ${now}::timestamptz)
        and 'inbox.read' = any (k.scopes) as is_active,
        w.inbox_enabled and w.inbox_available as has_inbox
    ) as a
    where w.id = ${workspaceId}`
}

/** Selects the newest messages and notes of each conversation, and its handover to the key. */
function selectThreadParts(sql: Sql, workspaceId: string, keyId: string): Fragment {
  const all = opaqueWorkspaceId(sql, workspaceId)
  return sql`
    union all
    select 'message', t.id, to_json(m)
    from told t
    cross join lateral (
      select ${messageViewColumns(sql)}
      from messages m
      where m.workspace_id = ${all}
        and m.conversation_id = t.id
      order by m.occurred_at desc
      limit ${maxMessages + 1}
    ) as m
    union all
    select 'note', t.id, to_json(n)
    from told t
    cross join lateral (
      select n.id, encode(n.text, 'base64') as text, n.actor_type, n.actor_id, n.created_at
      from conversation_notes n
      where n.workspace_id = ${all}
        and n.conversation_id = t.id
      order by n.created_at desc, n.id desc
      limit ${maxNotes}
    ) as n
    union all
    select 'handover', t.id, to_json(h)
    from told t
    cross join lateral (
      select ${handoverColumns(sql, sql`encode(h.words, 'base64')`)}
      from conversation_handovers h
      where h.workspace_id = ${all}
        and h.conversation_id = t.id
      order by h.created_at desc, h.id desc
      limit 1
    ) as h
    where h.to_type = 'agents' or h.to_key_id = ${keyId}
    union all
    select 'draft', t.id, to_json(d)
    from told t
    cross join lateral (
      select ${draftColumns(sql, (column) => sql`encode(${column}, 'base64')`)}
      from drafts d
      where d.workspace_id = ${all}
        and d.conversation_id = t.id
      order by d.created_at desc, d.id desc
      limit 1
    ) as d
    where d.key_id = ${keyId}`
}

type Part = 'state' | 'picked' | 'held' | 'message' | 'note' | 'handover' | 'draft'

interface PartRow {
  part: Part
  id: string | null
  row: unknown
}

interface StateRow {
  last: number
  removed_to: number
  reach: number
  unplaced: boolean | null
  is_active: boolean
  has_inbox: boolean
  agents_stopped: boolean
  phone_visibility: 'full' | 'masked'
  instructions_version: number
  key_hash: string
}

// In JSON, times are strings.
type TimeColumns =
  | ('snoozed_until' | 'window_expires_at' | 'last_message_at' | 'updated_at')
  | ('owner_since' | 'unanswered_since' | 'created_at' | 'thread_at' | 'goal_due_at')
type AsJson<R, T extends keyof R> = Omit<R, T> & { [K in T]: null extends R[K] ? string | null : string }

interface PickedRow {
  id: string
  nth: number
  why: WorkReason
  place: number | null
  since: string | null
  conversation: AsJson<TeamListItemRow, TimeColumns>
}

type MessageJson = AsJson<MessageViewRow, 'occurred_at'>

interface NoteJson {
  id: string
  text: string
  actor_type: Note['actor']['type']
  actor_id: string | null
  created_at: string
}

type DraftJson = Omit<AsJson<DraftRow, 'created_at' | 'decided_at'>, 'content' | 'decision'> & {
  content: string
  decision: string | null
}

type HandoverJson = Omit<AsJson<HandoverRow, 'created_at'>, 'words'> & { words: string }

/** Returns the parts of one kind, for all conversations or for one. */
const filterParts = <R>(rows: readonly PartRow[], part: Part, id?: string) =>
  rows.filter((row) => row.part === part && (id === undefined || row.id === id)) as (PartRow & { row: R })[]
