import type { Tx } from '../../base/db.ts'
import type { Connection } from '../../channels/connection/connection.ts'

/** `burst` messages at once, then one every `everyMs`. */
export interface SendRate {
  burst: number
  everyMs: number
}

export interface SendRates {
  connection: SendRate
  /** Limit for one customer on one connection. */
  pair: SendRate
}

// Official platform limits: 80 messages per second per number, 20 if the number is also used on a phone, and 45 at once
// to one customer, then one every 6 s. Within any second, `burst` + 1000 / `everyMs` stays below the limit.
const official: SendRate = { burst: 8, everyMs: 1000 / 70 }
const sharedWithPhone: SendRate = { burst: 2, everyMs: 1000 / 17 }
const pair: SendRate = { burst: 44, everyMs: 6100 }
// Sessions with machine-like timing are banned quickly: sends about one message per second at random intervals.
const unofficial = (random: number): SendRate => ({ burst: 1, everyMs: 800 + 800 * random })

// Only our own database limits it.
const website: SendRate = { burst: 100, everyMs: 10 }

/** Returns the send rates of a connection; `random` in 0…1 varies those of unofficial channels. */
export function sendRatesOf(
  connection: Pick<Connection, 'channel' | 'isOnPhone'>,
  random: number = Math.random(),
): SendRates {
  if (connection.channel === 'unofficial') return { connection: unofficial(random), pair }
  if (connection.channel === 'website') return { connection: website, pair: website }
  return { connection: connection.isOnPhone ? sharedWithPhone : official, pair }
}

/** Reserves the next slot across all nodes. Returns the milliseconds until it is due. */
export async function reserveSlot(
  tx: Tx,
  workspaceId: string,
  connectionId: string,
  conversationId: string,
  rates: SendRates,
): Promise<number> {
  const rows = await tx<{ wait_ms: number }[]>`
    with step (id, every_ms, burst) as (
      values
        (${connectionId}::uuid, ${rates.connection.everyMs}::float8, ${rates.connection.burst}::float8),
        (${conversationId}::uuid, ${rates.pair.everyMs}::float8, ${rates.pair.burst}::float8)
    ),
    taken as (
      insert into send_paces as p (workspace_id, id, next_at)
      select ${workspaceId}::uuid, step.id, clock_timestamp() + step.every_ms * interval '1 millisecond'
      from step
      on conflict (workspace_id, id) do update
      -- In UTC, so that the added interval does not depend on the time zone of the session.
      set next_at = greatest(
        (
          p.next_at at time zone 'UTC' + interval '1 millisecond' * case
            when p.id = ${connectionId}::uuid then ${rates.connection.everyMs}::float8
            else ${rates.pair.everyMs}::float8
          end
        ) at time zone 'UTC',
        excluded.next_at
      )
      returning p.id, p.next_at
    )
    select (
      extract(epoch from taken.next_at - clock_timestamp()) * 1000 - step.every_ms * step.burst
    )::float8 as wait_ms
    from taken
    join step on step.id = taken.id`
  return Math.max(0, ...rows.map((row) => row.wait_ms))
}

/** Deletes the rate rows of idle connections and customers. */
export async function deleteIdleRates(tx: Tx): Promise<void> {
  await tx`
    delete from send_paces
    where next_at < now() - interval '1 hour'`
}
