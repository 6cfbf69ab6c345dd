import type { Db, Sql, Tx } from '../../base/db.ts'
import type { Log } from '../../base/log.ts'
import { unnested } from '../../base/postgres/rows.ts'
import { createZoneFormat, localDateAt } from '../../base/time.ts'
import type { ChangeDeps } from '../conversation/conversation.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import { type BillingSettings, findBillingSettings } from '../costs/billing-settings.ts'
import { pricedCharges, sameRates } from '../costs/read-costs.ts'
import { recordAlerts } from './alerts.ts'
import { type Amount, type Budget, formatAmount, oneMessage, parseAmount, periodAt } from './budget.ts'
import { amountsOf, lockCount, readBudgets, readHighestPrices, storeCounters } from './budget-queries.ts'

type CountDeps = Pick<ChangeDeps, 'db' | 'clock'>

/** A count is repeated after this time at the earliest, and after so many times what it took. */
const minPauseMs = 1_000
const pausePerMs = 20

/** Counts that run in this process, by workspace: concurrent callers share one. */
const running = new WeakMap<Db, Map<string, Promise<boolean>>>()

/**
 * Counts what budgets have used, from the ledger, and removes the reservations that it contains. Does nothing if the
 * last count is recent, so that refused sends cannot keep the database busy. Returns whether it is newer than before.
 */
export function recountBudgets(deps: CountDeps, workspaceId: string): Promise<boolean> {
  const ofDb = running.get(deps.db) ?? new Map<string, Promise<boolean>>()
  running.set(deps.db, ofDb)
  const current = ofDb.get(workspaceId)
  if (current !== undefined) return current
  const count = recountIfDue(deps, workspaceId).finally(() => ofDb.delete(workspaceId))
  ofDb.set(workspaceId, count)
  return count
}

async function recountIfDue(deps: CountDeps, workspaceId: string): Promise<boolean> {
  const [state] = await deps.db.sql<{ version: string; countedAt: Date | null; countMs: number }[]>`
    select version::text as version, counted_at as "countedAt", count_ms as "countMs"
    from budget_counts
    where workspace_id = ${workspaceId}`
  if (state === undefined) return false
  const ageMs = state.countedAt === null ? null : deps.clock.now().getTime() - state.countedAt.getTime()
  const isRecent = ageMs !== null && ageMs >= 0 && ageMs < Math.max(minPauseMs, pausePerMs * state.countMs)
  if (isRecent) return false
  await countBudgets(deps, workspaceId, state.version)
  return true
}

/** Like `recountBudgets`, for a refused send, which stays refused if the count fails. */
export async function recountForSend(
  { log, ...deps }: CountDeps & { log: Log },
  workspaceId: string,
): Promise<boolean> {
  return recountBudgets(deps, workspaceId).catch((error: unknown) => {
    log.warn('failed to count what budgets have used; the send stays refused', { workspaceId }, error)
    return false
  })
}

/** Counts without regard to the last count, after a change of budgets, settings or rate cards. */
export async function countBudgetsNow(deps: CountDeps, workspaceId: string): Promise<void> {
  const [state] = await deps.db.sql<{ version: string }[]>`
    select version::text as version
    from budget_counts
    where workspace_id = ${workspaceId}`
  if (state !== undefined) await countBudgets(deps, workspaceId, state.version)
}

/** Counts of workspaces whose last count is old. Called by a timer on any node. Returns the number of workspaces. */
export async function countDueBudgets(deps: CountDeps): Promise<number> {
  const rows = await deps.db.sql<{ workspaceId: string }[]>`
    select workspace_id as "workspaceId"
    from budget_counts
    where counted_at is null
      or counted_at <= ${deps.clock.now()}::timestamptz
        - greatest(${idleMs}::float8, ${pausePerMs}::float8 * count_ms) * interval '1 millisecond'
    order by counted_at nulls first
    limit ${maxWorkspaces}`
  const errors: unknown[] = []
  // A failure must not keep the others from being counted.
  for (const { workspaceId } of rows) await recountBudgets(deps, workspaceId).catch((error) => errors.push(error))
  if (errors.length > 0) throw errors[0]
  return rows.length
}

const idleMs = 50_000
const maxWorkspaces = 1_000

interface Reserved {
  messageId: string
  part: number
}

/**
 * Reads without a lock, in an order that never counts a message too little: first which reservations the ledger
 * contains, then the ledger. A charge that arrives in between is counted twice until the next count, a charge that
 * arrives later once, by its reservation. Stores the result only if no other count or change came first.
 */
async function countBudgets({ db, clock }: CountDeps, workspaceId: string, version: string): Promise<void> {
  const [startedMs, now] = [performance.now(), clock.now()]
  const [settings, budgets] = await Promise.all([
    findBillingSettings(db.sql, workspaceId),
    readBudgets(db.sql, workspaceId),
  ])
  const currency = budgets.find(({ unit }) => unit === 'money')?.currency ?? null
  const { settled, ledger, highest } = await db.inBulk(async () => {
    const month = periodAt('month', now, settings.timeZone)
    const settled = await listSettled(db.sql, workspaceId, month.from)
    const highest = currency === null ? {} : await readHighestPrices(db.sql, workspaceId, currency)
    return {
      settled,
      highest,
      ledger: await readLedger(db.sql, { workspaceId, settings, currency, highest: amountsOf(highest) }, now),
    }
  })
  const countMs = Math.round(performance.now() - startedMs)
  await db.tx(async (tx) => {
    const locked = await lockCount(tx, workspaceId)
    if (locked?.version !== version) return
    const stored = new Map((await readBudgets(tx, workspaceId)).map((budget) => [budget.id, budget]))
    // A period that has ended since must not replace the one that sends are already counted in.
    if (stored.values().some(({ period, from }) => from >= periodAt(period, now, settings.timeZone).until)) return
    await deleteReservations(tx, workspaceId, settled)
    const fallback = highestOf(amountsOf(highest))
    const reserved = await sumReservations(tx, workspaceId, budgets, { settings, now, fallback })
    const counted = budgets.map((budget): Budget => {
      const used = ledger.used.get(`${budget.scope} ${budget.scopeId}`)?.[budget.period]?.[budget.unit] ?? 0n
      const period = periodAt(budget.period, now, settings.timeZone)
      return { ...(stored.get(budget.id) ?? budget), ...period, used, reserved: reserved.get(budget.id) ?? 0n }
    })
    const alerted = new Map((await recordAlerts({ tx, workspaceId, now }, counted)).map((one) => [one.id, one]))
    const changed = counted.map((budget) => alerted.get(budget.id) ?? budget)
    await storeCounters(tx, workspaceId, changed)
    await tx`
      update budget_counts
      set version = version + 1,
        counted_at = ${now},
        count_ms = ${countMs},
        month_from = ${periodAt('month', now, settings.timeZone).from},
        free_used = ${tx.json(ledger.freeUsed)},
        charged = ${tx.json(ledger.charged)},
        highest_prices = ${tx.json(highest)}
      where workspace_id = ${workspaceId}`
  })
}

const highestOf = (prices: ReadonlyMap<string, Amount>): Amount =>
  [...prices.values()].reduce((highest, price) => (price > highest ? price : highest), 0n)

/**
 * Returns the reservations that are no longer needed: the ledger has the charge, the message has failed or was erased,
 * or the month is over. A single part has the state and the id of its message.
 */
async function listSettled(sql: Sql, workspaceId: string, monthFrom: Date): Promise<Reserved[]> {
  const workspace = opaqueWorkspaceId(sql, workspaceId)
  // One look-up per reservation: a join might read all messages of the workspace.
  return sql<Reserved[]>`
    select r.message_id as "messageId", r.part
    from budget_reservations r
    left join lateral (
      select status, external_index from message_parts
      where workspace_id = ${workspace} and message_id = r.message_id and part = r.part
      offset 0
    ) as k on true
    left join lateral (
      select id, status, external_index from messages
      where workspace_id = ${workspace} and id = r.message_id
      offset 0
    ) as m on true
    left join lateral (
      select true as is_charged from message_charges
      where workspace_id = ${workspace} and connection_id = r.connection_id
        and external_index = coalesce(k.external_index, case when r.part = 1 then m.external_index end)
      offset 0
    ) as c on true
    where r.workspace_id = ${workspaceId}
      and (
        r.reserved_at < ${monthFrom}
        or m.id is null
        or case when k.status = 'pending' then m.status else k.status end = 'failed'
        or c.is_charged
      )`
}

async function deleteReservations(tx: Tx, workspaceId: string, settled: readonly Reserved[]): Promise<void> {
  if (settled.length === 0) return
  await tx`
    delete from budget_reservations r
    using ${unnested(settled, { uuid: ['messageId'], integer: ['part'] })}
    where r.workspace_id = ${workspaceId}
      and r.message_id = n.message_id
      and r.part = n.part`
}

interface SumOptions {
  settings: BillingSettings
  now: Date
  /** Price of messages that were reserved before there was a budget in money. */
  fallback: Amount
}

/** Returns what the remaining reservations may cost, by budget. */
async function sumReservations(
  tx: Tx,
  workspaceId: string,
  budgets: readonly Budget[],
  { settings, now, fallback }: SumOptions,
): Promise<Map<string, Amount>> {
  const rows = budgets.map(({ id, scope, scopeId, unit, period }) => {
    return { id, scope, scopeId, unit, periodFrom: periodAt(period, now, settings.timeZone).from }
  })
  const sums = await tx<{ id: string; amount: string }[]>`
    select n.id, sum(case when n.unit = 'messages' then 1 else coalesce(r.price, ${formatAmount(fallback)}::numeric) end)::text
      as amount
    from ${unnested(rows, { uuid: ['id', 'scopeId'], text: ['scope', 'unit'], timestamptz: ['periodFrom'] })}
    join budget_reservations r
      on r.workspace_id = ${workspaceId}
      and r.reserved_at >= n.period_from
      and not r.is_free
      and case n.scope
        when 'connection' then r.connection_id = n.scope_id
        when 'key' then r.key_id = n.scope_id
        else true
      end
    group by n.id`
  return new Map(sums.map(({ id, amount }) => [id, parseAmount(amount)]))
}

type PeriodUse = Record<Budget['unit'], Amount>

interface LedgerUse {
  /** By scope and its id. */
  used: Map<string, Record<Budget['period'], PeriodUse>>
  freeUsed: Record<string, number>
  charged: Record<string, number>
}

interface LedgerScope {
  workspaceId: string
  settings: BillingSettings
  currency: string | null
  highest: ReadonlyMap<string, Amount>
}

interface LedgerRow {
  kind: 'workspace' | 'connection' | 'key' | 'free' | 'charged'
  key: string
  messages: number
  messagesToday: number
  money: string | null
  moneyToday: string | null
}

/**
 * Reads what the ledger says about the current month, with the rules of the page of costs. What the platform charges or
 * may charge for counts: a message without a known price has the highest one of its category.
 */
async function readLedger(sql: Sql, { highest, ...scope }: LedgerScope, now: Date): Promise<LedgerUse> {
  const { workspaceId, settings } = scope
  const today = localDateAt(createZoneFormat(settings.timeZone), now.getTime())
  const sums = sql`
    count(*) filter (where counts)::integer as messages,
    count(*) filter (where counts and is_today)::integer as "messagesToday",
    sum(amount) filter (where counts)::text as money,
    sum(amount) filter (where counts and is_today)::text as "moneyToday"`
  const rows = await sql<LedgerRow[]>`
    with ${pricedCharges(sql, { ...scope, connectionIds: null }, { from: today, to: today })},
    costed as materialized (
      select p.connection_id, p.number_id, p.market, p.rate_category, p.type,
        case when p.actor_type = 'agent' then p.actor_id end as key_id,
        p.day = ${today}::date as is_today,
        p.outcome in ('charged', 'unknown') as counts,
        p.category = 'service' and p.type in ('regular', 'free_customer_service') as is_service,
        coalesce(p.price, n.price::numeric, ${formatAmount(highestOf(highest))}::numeric) as amount
      from priced p
      left join ${unnested(highestPrices(highest), { text: ['category', 'price'] })} on n.category = p.category
    )
    select 'workspace' as kind, ${workspaceId}::text as key, ${sums}
    from costed
    union all
    select 'connection', connection_id::text, ${sums}
    from costed
    group by connection_id
    union all
    select 'key', key_id::text, ${sums}
    from costed
    where key_id is not null
    group by key_id
    union all
    select 'free', number_id,
      -- Once the platform charges for replies after free ones, no more are free, however many it should be.
      case
        when bool_or(type = 'regular') and bool_or(type = 'free_customer_service') then ${settings.freeServiceMessages}::integer
        else count(*)::integer
      end,
      0, null, null
    from costed
    where is_service
      and number_id is not null
    group by number_id
    union all
    select 'charged', market || '|' || rate_category, count(*)::integer, 0, null, null
    from (
      select market,
        case when rate_category = 'authentication_international' then 'authentication' else rate_category end
          as rate_category
      from costed
      where market is not null
    ) as tiers
    group by market, rate_category`
  return ledgerUseOf(rows, settings)
}

/** Returns the highest known price of each category, also of those that are billed like another. */
function highestPrices(highest: ReadonlyMap<string, Amount>): { category: string; price: string }[] {
  const aliases = sameRates.flatMap(({ category, as }) => {
    const price = highest.get(category) ?? highest.get(as)
    return price === undefined ? [] : [[category, price] as const]
  })
  return [...new Map([...highest, ...aliases])].map(([category, price]) => ({ category, price: formatAmount(price) }))
}

function ledgerUseOf(rows: readonly LedgerRow[], { freeServiceMessages }: BillingSettings): LedgerUse {
  const use: LedgerUse = { used: new Map(), freeUsed: {}, charged: {} }
  for (const { kind, key, messages, messagesToday, money, moneyToday } of rows) {
    if (kind === 'free') use.freeUsed[key] = Math.min(messages, freeServiceMessages)
    else if (kind === 'charged') use.charged[key] = messages
    else {
      use.used.set(`${kind} ${key}`, {
        month: { messages: BigInt(messages) * oneMessage, money: parseAmount(money ?? '0') },
        day: { messages: BigInt(messagesToday) * oneMessage, money: parseAmount(moneyToday ?? '0') },
      })
    }
  }
  return use
}
