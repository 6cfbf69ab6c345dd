import type { Fragment, Tx } from '../../base/db.ts'
import { aliveForMs, aliveInCallMs } from '../conversation/dispatches.ts'
import { anyWorkspace } from '../conversation/queries.ts'
import { takeoverWaitMs } from '../conversation/takeover-wait.ts'
import type { Paces } from './pace.ts'

/** A send whose way to the platform begins. */
export interface Beginning {
  messageId: string
  conversationId: string
  connectionId: string
  ownerEpoch: number
  /** A change of owner waits for the calls under way: this one has to ask before it starts. */
  isHeld: boolean
  paces: Paces
}

export interface Begun {
  messageId: string
  turn: number
  /** How long to wait for its place in line; null for those that wait for their turn first. */
  waitMs: number | null
  /** Whether its first call may start, as `allowStart` would say. */
  isAllowed: boolean
}

/**
 * Begins the way of many sends, each after all others of its conversation, under the locks of these. Whoever is first
 * takes a place in the lines of connection and customer, as by `takePlace`, and is allowed to start when it is free.
 * `now` is the time by the clock that all processes share.
 */
export async function beginSends(
  tx: Tx,
  workspaceId: string,
  sends: readonly Beginning[],
  now: Fragment,
): Promise<Begun[]> {
  const workspace = anyWorkspace(tx, workspaceId)
  return tx<Begun[]>`
    with asked as (
      select n.*, coalesce(last.turn, 0) + row_number() over (partition by n.conversation_id order by n.place) as turn
      from unnest(
        ${sends.map(({ messageId }) => messageId)}::uuid[],
        ${sends.map(({ conversationId }) => conversationId)}::uuid[],
        ${sends.map(({ connectionId }) => connectionId)}::uuid[],
        ${sends.map(({ ownerEpoch }) => ownerEpoch)}::integer[],
        ${sends.map(({ isHeld }) => isHeld)}::boolean[],
        ${sends.map(({ paces }) => paces.connection.everyMs)}::float8[],
        ${sends.map(({ paces }) => paces.connection.burst)}::float8[],
        ${sends.map(({ paces }) => paces.pair.everyMs)}::float8[],
        ${sends.map(({ paces }) => paces.pair.burst)}::float8[]
      ) with ordinality as n (
        message_id, conversation_id, connection_id, owner_epoch, is_held, every_ms, burst, pair_every_ms, pair_burst,
        place
      )
      cross join lateral (
        select max(turn) as turn from dispatches
        where workspace_id = ${workspace} and conversation_id = n.conversation_id
      ) as last
    ),
    step as (
      select s.*, sum(every_ms) over (partition by id) as line_ms,
        sum(every_ms) over (partition by id order by place) as place_ms
      from (
        select connection_id as id, message_id, every_ms, burst, place from asked where turn = 1
        union all
        select conversation_id as id, message_id, pair_every_ms, pair_burst, place from asked where turn = 1
      ) as s
    ),
    taken as (
      insert into send_paces as p (workspace_id, id, next_at)
      select ${workspaceId}::uuid, id, ${now} + max(line_ms) * interval '1 millisecond'
      from step
      group by id
      order by id
      on conflict (workspace_id, id) do update
      -- In UTC, as in takePlace.
      set next_at = (greatest(p.next_at, ${now}) at time zone 'UTC' + (excluded.next_at - ${now})) at time zone 'UTC'
      returning p.id, p.next_at
    ),
    wait as (
      select step.message_id, max(
        extract(epoch from taken.next_at - clock_timestamp()) * 1000 - (line_ms - place_ms) - every_ms * burst
      )::float8 as ms
      from step
      join taken on taken.id = step.id
      group by step.message_id
    ),
    begun as (
      insert into dispatches (
        workspace_id, message_id, conversation_id, turn, owner_epoch, alive_until, starting_until
      )
      select ${workspaceId}::uuid, a.message_id, a.conversation_id, a.turn, a.owner_epoch,
        clock_timestamp()
          + case when may_start then ${aliveInCallMs}::float8 else ${aliveForMs}::float8 end * interval '1 millisecond',
        case when may_start then clock_timestamp() + ${takeoverWaitMs}::float8 * interval '1 millisecond' end
      from asked a
      left join wait on wait.message_id = a.message_id
      cross join lateral (select coalesce(wait.ms <= 0, false) and not a.is_held as may_start) as m
      order by a.place
      returning message_id, turn, starting_until is not null as is_allowed
    )
    select begun.message_id as "messageId", begun.turn, case when wait.ms is not null then greatest(wait.ms, 0) end as "waitMs",
      begun.is_allowed as "isAllowed"
    from begun
    left join wait on wait.message_id = begun.message_id`.execute()
}
