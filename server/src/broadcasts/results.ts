import type { Sql, Tx } from '../base/db.ts'
import { createZoneFormat, localDateAt } from '../base/time.ts'
import { formatAmount, parseAmount } from '../inbox/budgets/budget.ts'
import { type ChangeTx, inWorkspace } from '../inbox/conversation/conversation.ts'
import { findBillingSettings } from '../inbox/costs/billing-settings.ts'
import { pricedCharges } from '../inbox/costs/read-costs.ts'
import {
  type Broadcast,
  type BroadcastDeps,
  lockBroadcast,
  pauseItself,
  type Results,
  storeBroadcast,
  type VariantResults,
} from './broadcast.ts'
import { currencyOf } from './estimate.ts'
import { findReactionReason } from './pacing.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Answers and opt-outs count for a week after the message. */
export const resultDays = 7
const resultMs = resultDays * 24 * hourMs
const batch = 2_000
/** While it runs, results of the last messages are read at every refresh, and all of them now and then. */
const recentMs = 15 * minuteMs
const allEveryMs = 30 * minuteMs
/** Often enough for a page that shows the progress. */
export const refreshEveryMs = 10_000

/** Returns when the results of a broadcast that sends nothing are read again; null: they are final. */
export function nextRefreshAt(endedAt: Date, now: Date): Date | null {
  const ageMs = now.getTime() - endedAt.getTime()
  if (ageMs >= resultMs) return null
  const waitMs = ageMs < 10 * minuteMs ? minuteMs / 2 : ageMs < 24 * hourMs ? 10 * minuteMs : 6 * hourMs
  return new Date(now.getTime() + Math.min(waitMs, Math.max(minuteMs, resultMs - ageMs)))
}

/** Reads what became of the messages, sums it up, and pauses the broadcast if too many opt out or fail. */
export async function refreshResults({ sends }: BroadcastDeps, broadcast: Broadcast): Promise<void> {
  const { workspaceId, id, state, resultsAt } = broadcast
  const now = sends.clock.now()
  const isRunning = state === 'running'
  const periodOf = (time: Date) => Math.floor(time.getTime() / allEveryMs)
  const readAll = !isRunning || resultsAt === null || periodOf(resultsAt) !== periodOf(now)
  const since = new Date(now.getTime() - (readAll ? resultMs : recentMs))
  for (let after: string | null = null; ; ) {
    after = await sends.db.tx((tx) => readOutcomes(tx, broadcast, { after, since }))
    if (after === null) break
  }
  await inWorkspace(sends, workspaceId, async (work) => {
    const currency = await currencyOf(work.tx, workspaceId, broadcast.connectionId)
    if (readAll) await readCharges(work, broadcast, currency)
    const results = await sumUp(work.tx, broadcast, currency)
    const current = await lockBroadcast(work, id)
    const isOver = current.state !== 'running' && current.state !== 'collecting'
    const endedAt = current.endedAt ?? current.startedAt ?? current.createdAt
    const stored = await storeBroadcast(work, current, {
      ...{ results, resultsAt: work.now },
      ...(isOver && { nextAt: nextRefreshAt(endedAt, work.now) }),
    })
    // Who resumes it has seen the numbers, and is not asked again for the same reason.
    const [reason, known] = [results, current.results].map((one) =>
      one === null ? null : findReactionReason(reactionsIn(one)),
    )
    if (reason != null && reason !== known) await pauseItself(work, stored, reason)
  })
}

const reactionsIn = ({ variants }: Results) => ({
  accepted: sum(variants, 'accepted'),
  failed: sum(variants, 'failed'),
  optedOut: sum(variants, 'optedOut'),
})

const sum = (variants: readonly VariantResults[], name: Exclude<keyof VariantResults, 'cost'>): number =>
  variants.reduce((total, one) => total + one[name], 0)

/** Copies statuses, answers and opt-outs of the next messages; returns the last id, null at the end. */
async function readOutcomes(
  tx: Tx,
  { workspaceId, id }: Broadcast,
  { after, since }: { after: string | null; since: Date },
): Promise<string | null> {
  const rows = await tx<{ id: string }[]>`
    select id
    from broadcast_recipients
    where workspace_id = ${workspaceId}
      and broadcast_id = ${id}
      and sent_at > ${since}
      ${after === null ? tx`` : tx`and id > ${after}`}
    order by id
    limit ${batch}`
  const last = rows.at(-1)?.id ?? null
  if (last === null) return null
  await tx`
    with found as (
      select r.id, case when m.status = 'pending' then 'sending' else m.status end as status, m.error_code as reason,
        coalesce(r.answered_at, a.at) as answered_at,
        coalesce(r.opted_out_at, o.at, case when m.error_code = '131050' then r.sent_at end) as opted_out_at
      from broadcast_recipients r
      join messages m on m.workspace_id = ${workspaceId} and m.id = r.message_id
      left join conversations c on c.workspace_id = ${workspaceId} and c.id = m.conversation_id
      left join lateral (
        select min(i.occurred_at) as at
        from messages i
        where i.workspace_id = ${workspaceId}
          and i.conversation_id = m.conversation_id
          and i.direction = 'inbound'
          and i.occurred_at > r.sent_at
          and i.occurred_at <= r.sent_at + ${`${resultDays} days`}::interval
          and r.answered_at is null
          and c.newest_inbound_id > r.message_id
      ) a on true
      left join lateral (
        select min(e.created_at) as at
        from conversation_activities e
        where e.workspace_id = ${workspaceId}
          and e.conversation_id = m.conversation_id
          and e.created_at >= r.sent_at
          and e.created_at <= r.sent_at + ${`${resultDays} days`}::interval
          and e.kind = 'consent'
          and e.detail ->> 'to' = 'opted_out'
          and r.opted_out_at is null
      ) o on true
      where r.workspace_id = ${workspaceId}
        and r.id = any (${rows.map((row) => row.id)}::uuid[])
    )
    update broadcast_recipients r
    set status = f.status,
      reason = f.reason,
      answered_at = f.answered_at,
      opted_out_at = f.opted_out_at
    from found f
    where r.workspace_id = ${workspaceId}
      and r.id = f.id
      and (r.status, r.reason, r.answered_at, r.opted_out_at)
        is distinct from (f.status, f.reason, f.answered_at, f.opted_out_at)`
  return last
}

/** Copies what the ledger of charges says about the messages. */
async function readCharges(
  { tx, workspaceId, now }: ChangeTx,
  { id, connectionId, startedAt }: Broadcast,
  currency: string | null,
): Promise<void> {
  if (startedAt === null) return
  const settings = await findBillingSettings(tx, workspaceId)
  const format = createZoneFormat(settings.timeZone)
  // The platform's times may be a little behind ours.
  const from = localDateAt(format, startedAt.getTime() - hourMs)
  const to = localDateAt(format, now.getTime() + hourMs)
  const scope = { workspaceId, connectionIds: [connectionId], settings, currency }
  await tx`
    with ${pricedCharges(tx, scope, { from, to })}
    update broadcast_recipients r
    set charge = p.outcome,
      cost = p.price
    from priced p
    join messages m on m.workspace_id = ${workspaceId} and m.external_index = p.external_index
    where p.actor_type = 'system'
      and p.actor_id = ${id}
      and r.workspace_id = ${workspaceId}
      and r.broadcast_id = ${id}
      and r.message_id = m.id
      and (r.charge, r.cost) is distinct from (p.outcome, p.price)`
}

type SumRow = Omit<VariantResults, 'cost'> & {
  variant: number
  status: string
  reason: string | null
  count: number
  unpriced: number
  cost: string | null
}

async function sumUp(sql: Sql, { workspaceId, id, variants }: Broadcast, currency: string | null): Promise<Results> {
  const rows = await sql<SumRow[]>`
    select variant, status, reason, count(*)::integer as count,
      count(answered_at)::integer as answered,
      count(opted_out_at)::integer as "optedOut",
      (count(*) filter (where charge = 'charged'))::integer as charged,
      (count(*) filter (where charge = 'charged' and cost is null))::integer as unpriced,
      trim_scale(sum(cost))::text as cost
    from broadcast_recipients
    where workspace_id = ${workspaceId}
      and broadcast_id = ${id}
      and status <> 'excluded'
    group by variant, status, reason`
  const reasons = Map.groupBy(
    rows.filter(({ reason }) => reason !== null),
    ({ status, reason }) => `${status} ${reason}`,
  )
  return {
    variants: variants.map((_, n) => variantSum(rows.filter(({ variant }) => variant === n))),
    reasons: [...reasons.values()].slice(0, 50).map((some) => ({
      status: some[0]?.status ?? '',
      reason: some[0]?.reason ?? '',
      count: some.reduce((total, { count }) => total + count, 0),
    })),
    currency,
    unpriced: rows.reduce((total, { unpriced }) => total + unpriced, 0),
  }
}

/** Adds exact decimal numbers. */
export const addAmounts = (amounts: readonly string[]): string =>
  formatAmount(amounts.reduce((sum, amount) => sum + parseAmount(amount), 0n))

function variantSum(rows: readonly SumRow[]): VariantResults {
  const count = (...statuses: string[]) =>
    rows.filter(({ status }) => statuses.includes(status)).reduce((total, row) => total + row.count, 0)
  const total = (name: 'answered' | 'optedOut' | 'charged') => rows.reduce((all, row) => all + row[name], 0)
  const costs = rows.flatMap(({ cost }) => cost ?? [])
  return {
    pending: count('pending', 'sending'),
    accepted: count('sent', 'delivered', 'read'),
    delivered: count('delivered', 'read'),
    read: count('read'),
    failed: count('failed'),
    skipped: count('skipped'),
    answered: total('answered'),
    optedOut: total('optedOut'),
    charged: total('charged'),
    cost: costs.length === 0 ? null : addAmounts(costs),
  }
}
