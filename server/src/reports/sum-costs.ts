import type { Db } from '../base/db.ts'
import { costScopeOf, pricedCharges } from '../inbox/costs/read-costs.ts'
import { dimensions } from './fact.ts'
import { moveQueue, type ReportQueue } from './queue.ts'

const dayMs = 86_400_000
/** Later the platform does not report a price. */
const lateDays = 7
/** All that a report can show. */
const allDays = 800

/**
 * Sums the costs of the ledger again, in the currency of the billing settings: those of the month that may still change,
 * because the place of a message in its month decides about its price, or all. By the team, labels, source and campaign that the
 * conversation has now.
 */
export async function sumCosts(db: Db, workspaceId: string, queue: ReportQueue, now: Date): Promise<void> {
  const { currencies: _, ...scope } = await costScopeOf(db.sql, workspaceId, undefined)
  const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const month = `${dateOf(now.getTime() - lateDays * dayMs).slice(0, 7)}-01`
  const from = queue.costsAll ? dateOf(now.getTime() - allDays * dayMs) : month
  const to = dateOf(now.getTime() + dayMs)
  await db.tx(async (tx) => {
    await moveQueue(tx, workspaceId, { ...queue, costsDueAt: null, costsAll: false }, now)
    await tx`
      delete from report_rollups
      where workspace_id = ${workspaceId}
        and dimension = any (${['all', ...dimensions]}::text[])
        and day >= ${from}::date
        and kind = 'cost'`
    await tx`
      with ${pricedCharges(tx, scope, { from, to })},
      dated as (
        select p.day, p.price, p.connection_id, p.actor_type, p.actor_id, c.team_id, c.label_ids, n.source,
          n.campaign_id,
          case when p.outcome = 'charged' and p.price is null then 'unpriced' else p.outcome end as outcome
        from priced p
        left join conversations c on c.workspace_id = ${workspaceId} and c.id = p.conversation_id
        left join report_facts n on n.workspace_id = ${workspaceId} and n.kind = 'new' and n.id = p.conversation_id
        where p.day >= ${from}::date
      )
      insert into report_rollups (workspace_id, dimension, day, dimension_id, kind, outcome, bucket, count, total)
      select ${workspaceId}::uuid, g.dimension, d.day, g.id, 'cost', d.outcome, -1, count(*), coalesce(sum(d.price), 0)
      from dated d
      cross join lateral (
        select 'all' as dimension, '' as id
        union all
        select 'connection', d.connection_id::text
        union all
        select 'team', d.team_id::text
        union all
        select 'person', d.actor_id::text where d.actor_type in ('user', 'token')
        union all
        select 'key', d.actor_id::text where d.actor_type = 'agent'
        union all
        select 'source', d.source
        union all
        select 'campaign', d.campaign_id::text
        union all
        select 'label', l.id::text from unnest(d.label_ids) as l (id)
      ) g
      where g.id is not null
      group by g.dimension, d.day, g.id, d.outcome`
  })
}
