import type { Fragment, Sql } from '../../base/db.ts'
import { anyWorkspace } from '../../inbox/conversation/queries.ts'
import type { Note } from '../../inbox/notes/notes.ts'
import { type HandoverRow, handoverColumns } from '../../inbox/ownership/handovers.ts'
import { type TeamListedRow, teamListedColumns } from '../../inbox/read/listed-conversation.ts'
import { type ShownMessageRow, shownMessageColumns } from '../../inbox/read/read-messages.ts'
import { dueWork, stretch, type WorkAsk } from './due-work.ts'

export const shownMessages = 10
export const shownNotes = 10

/** Why a conversation is the key's to look at. */
export type Why = 'customer_wrote' | 'given_to_you'

/**
 * The next work of a key with all that is shown of it. One statement, for what is read by several is of several moments. A
 * row of its own for each part: what is in none of them is neither written nor read.
 */
export function selectWork(sql: Sql, ask: WorkAsk, looksForUnplaced: boolean): Promise<PartRow[]> {
  const { workspaceId, keyId, limit } = ask
  return sql<PartRow[]>`
    with s as materialized (${selectState(sql, ask, looksForUnplaced)}),
    picked as materialized (
      select w.*, row_number() over (order by w.place, w.since, w.id)::integer as nth
      from (${dueWork(sql, ask)}) as w
    ),
    told as materialized (
      select id from picked where nth <= ${limit}
    )
    select 'state' as part, null::uuid as id, to_json(s) as row
    from s
    union all
    select 'picked', p.id, json_build_object(
        'id', p.id, 'nth', p.nth, 'why', p.why, 'place', p.place, 'since', p.since, 'conversation', to_json(c)
      )
    from picked p
    cross join lateral (
      select ${teamListedColumns(sql)}
      from conversations c
      where c.workspace_id = ${anyWorkspace(sql, workspaceId)}
        and c.id = p.id
      offset 0
    ) as c
    ${saidInThem(sql, workspaceId, keyId)}`
}

/** How the feed stands, and what the key may. */
function selectState(sql: Sql, { workspaceId, keyId, from, now }: WorkAsk, looksForUnplaced: boolean): Fragment {
  const unplaced = looksForUnplaced
    ? sql`exists (select from events where workspace_id = ${workspaceId} and position is null)`
    : sql`null::boolean`
  return sql`
    select
      coalesce(f.last_position, 0) as last,
      coalesce(f.removed_to, 0) as removed_to,
      least(coalesce(f.last_position, 0), ${from?.position ?? 0}::bigint + ${stretch}::bigint) as reach,
      ${unplaced} as unplaced,
      w.agents_stopped,
      k.phone_visibility,
      k.connection_ids,
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

/** The newest messages and notes of each, and what the key was told with it. */
function saidInThem(sql: Sql, workspaceId: string, keyId: string): Fragment {
  const all = anyWorkspace(sql, workspaceId)
  return sql`
    union all
    select 'message', t.id, to_json(m)
    from told t
    cross join lateral (
      select ${shownMessageColumns(sql)}
      from messages m
      where m.workspace_id = ${all}
        and m.conversation_id = t.id
      order by m.occurred_at desc
      limit ${shownMessages + 1}
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
      limit ${shownNotes}
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
    where h.to_type = 'agents' or h.to_key_id = ${keyId}`
}

type Part = 'state' | 'picked' | 'message' | 'note' | 'handover'

export interface PartRow {
  part: Part
  id: string | null
  row: unknown
}

export interface StateRow {
  last: number
  removed_to: number
  reach: number
  unplaced: boolean | null
  is_active: boolean
  has_inbox: boolean
  agents_stopped: boolean
  phone_visibility: 'full' | 'masked'
  key_hash: string
}

// Times come in JSON, as texts.
type Times =
  | ('snoozed_until' | 'window_expires_at' | 'last_message_at' | 'updated_at')
  | ('owner_since' | 'unanswered_since' | 'created_at')
type InJson<R, T extends keyof R> = Omit<R, T> & { [K in T]: null extends R[K] ? string | null : string }

export interface PickedRow {
  id: string
  nth: number
  why: Why
  place: number | null
  since: string | null
  conversation: InJson<TeamListedRow, Times>
}

export type MessageJson = InJson<ShownMessageRow, 'occurred_at'>

export interface NoteJson {
  id: string
  text: string
  actor_type: Note['actor']['type']
  actor_id: string | null
  created_at: string
}

export type HandoverJson = Omit<InJson<HandoverRow, 'created_at'>, 'words'> & { words: string }

/** The parts of one kind, of all or of one conversation. */
export const partsOf = <R>(rows: readonly PartRow[], part: Part, id?: string) =>
  rows.filter((row) => row.part === part && (id === undefined || row.id === id)) as (PartRow & { row: R })[]
