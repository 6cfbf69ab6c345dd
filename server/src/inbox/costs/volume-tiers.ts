import { type Db, type Fragment, idempotent, type Sql } from '../../base/db.ts'
import type { ChannelEvent } from '../../channels/channel-event.ts'
import { marketKey } from './markets.ts'

// The platform counts messages per business portfolio, which may have more numbers than this workspace. So it reports each
// tier that an account reaches, and messages from then on have at least the place in the month with which the tier begins.

type VolumeTierEvent = Extract<ChannelEvent, { type: 'volume_tier' }>

/** More than the platform can report in three years. */
const maxTiers = 20_000

/** Stores a reported tier; a repeat changes nothing. */
export async function recordVolumeTier(
  db: Db,
  { workspaceId, id }: { workspaceId: string; id: string },
  { region, category, month, fromMessage, at }: VolumeTierEvent,
): Promise<void> {
  await db.tx(async (tx) => {
    await tx`
      insert into volume_tiers as t (
        workspace_id, connection_id, market, category, month, from_message, reached_at
      )
      select ${workspaceId}::uuid, ${id}::uuid, ${marketKey(region)}::text, ${tierCategory(category)}::text,
        ${`${month}-01`}::date, ${fromMessage}::bigint, ${at}::timestamptz
      where (select count(*) from volume_tiers where workspace_id = ${workspaceId}) < ${maxTiers}::integer
      on conflict (workspace_id, connection_id, market, category, month, from_message) do update
      set reached_at = least(t.reached_at, excluded.reached_at)`
  }, idempotent)
}

/** International authentication continues in the tiers of authentication. */
const tierCategory = (category: string): string =>
  category === 'authentication_international' ? 'authentication' : category

/**
 * SQL, after `with`: `reached`, the tier of a connection, market, category and month from one time until the next. A tier
 * is never left within its month.
 */
export const reachedTiers = (sql: Sql, workspaceId: string): Fragment => sql`
  reached as (
    select connection_id, market, category, month, reached_at,
      max(from_message) over same_month as from_message,
      lead(reached_at) over same_month as until
    from volume_tiers
    where workspace_id = ${workspaceId}
    window same_month as (partition by connection_id, market, category, month order by reached_at, from_message)
  )`
