import { Type } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/db.ts'
import { invalid, notFound } from '../base/errors.ts'
import type { App } from '../base/route.ts'
import { isTimeZone } from '../base/time.ts'
import { countBudgetsNow } from '../inbox/budgets/count-ledger.ts'
import { requireUnused } from '../inbox/budgets/manage-budgets.ts'
import {
  changeBillingSettings,
  findBillingSettings,
  listConnectionCurrencies,
  setConnectionCurrency,
} from '../inbox/costs/billing-settings.ts'
import { parseRateCards } from '../inbox/costs/parse-rate-card.ts'
import {
  deleteRateCard,
  listRateCards,
  type RateCard as StoredCard,
  storeRateCards,
} from '../inbox/costs/rate-cards.ts'
import { type CostGroup, type CostGrouping, type CostSum, costScopeOf, readCosts } from '../inbox/costs/read-costs.ts'
import { fileResponse, sendFile } from '../leads/transfer/export/export.ts'
import { csvLine } from '../leads/transfer/file/cells.ts'
import { recountCosts } from '../reports/queue.ts'
import { recordAudit } from '../team/audit.ts'
import { periodOf } from '../team/day-period.ts'
import type { Member, TeamGuard } from '../team/member.ts'
import { type TeamApi, teamApi } from '../team/team-api.ts'
import {
  BillingSettings,
  BillingSettingsChanges,
  ConnectionBillingChange,
  CostPeriodQuery,
  CostQuery,
  Costs,
  connectionBillingParams,
  maxGroups,
  RateCard,
  RateCardImport,
  RateCards,
  rateCardParams,
} from './cost-schema.ts'

interface CostDeps {
  db: Db
  clock: Clock
}

const path = '/api/team/v1/workspaces/:workspaceId'
const maxDays = 366
const maxExportRows = 200_000

/** Adds the routes of the page of costs: sums, an export, and the rate cards that prices come from. */
export function costTeamRoutes(app: App, deps: CostDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Costs')
  readRoutes(api, deps)
  rateCardRoutes(api, deps)
  billingRoutes(api, deps)
}

function readRoutes(api: TeamApi, { db, clock }: CostDeps): void {
  api.get(`${path}/costs`, 'admin', {
    operationId: 'getCosts',
    summary: 'Get costs',
    description:
      'Sums what the platform charges for messages, from the prices that its delivery statuses report. Amounts come from the imported rate cards, and are computed again with each: without one, messages are only counted. For admins.',
    query: CostQuery,
    answers: { 200: Costs },
    run: async ({ member, query }) => {
      const { currencies, ...scope } = await costScopeOf(db.sql, member.workspaceId, query.currency)
      const period = periodOf(query, { timeZone: scope.settings.timeZone, maxDays, now: clock.now() })
      const { by = 'day' } = query
      const [[total], groups] = await db.inBulk(() =>
        Promise.all([readCosts(db.sql, scope, period, [], 1), readCosts(db.sql, scope, period, [by], maxGroups)]),
      )
      const { timeZone } = scope.settings
      const { currency } = scope
      return { ...period, timeZone, currency, currencies, total: sumOf(total), groups: presentGroups(groups, by) }
    },
  })
  api.get(`${path}/costs/export`, 'admin', {
    operationId: 'exportCosts',
    summary: 'Export costs as CSV',
    description:
      'One row per day, connection, sender, template, category, type and country, with counts and the amount. For admins; recorded in the audit log.',
    query: CostPeriodQuery,
    answers: { 200: fileResponse('The file.') },
    run: async ({ member, query, reply }) => {
      const scope = await costScopeOf(db.sql, member.workspaceId, query.currency)
      const period = periodOf(query, { timeZone: scope.settings.timeZone, maxDays, now: clock.now() })
      const groups = await db.inBulk(() => readCosts(db.sql, scope, period, exportColumns, maxExportRows))
      await db.tx((tx) => audit(tx, member, 'costs.exported', `costs:${period.from}`, clock.now()))
      return sendFile(reply, `costs-${period.from}-${period.to}`, 'csv', exportLines(groups, scope.currency))
    },
  })
}

function rateCardRoutes(api: TeamApi, { db, clock }: CostDeps): void {
  const recount = recounter({ db, clock })
  api.get(`${path}/rate-cards`, 'admin', {
    operationId: 'listRateCards',
    summary: 'List rate cards',
    description: 'The imported rate cards and how the platform bills this workspace. For admins.',
    answers: { 200: RateCards },
    run: async ({ member: { workspaceId } }) => {
      const [settings, connections, cards] = await Promise.all([
        findBillingSettings(db.sql, workspaceId),
        listConnectionCurrencies(db.sql, workspaceId),
        listRateCards(db.sql, workspaceId),
      ])
      return { settings, connections, rateCards: cards.map(presentCard) }
    },
  })
  api.post(`${path}/rate-cards`, 'admin', {
    operationId: 'importRateCards',
    summary: 'Import rate cards',
    description:
      'Imports the prices of a CSV file: one rate card per currency and day. Takes the files of the platform as they are, recognized by their header. A card of the same currency and day is replaced. If a row is faulty, nothing is imported and `data.issues` names the rows. For admins.',
    body: RateCardImport,
    answers: { 201: Type.Object({ rateCards: Type.Array(RateCard, { maxItems: 200 }) }) },
    errors: [422],
    run: async ({ member, body }) => {
      const { workspaceId } = member
      const cards = await parseRateCards(body.csv, body.validFrom ?? null)
      const now = clock.now()
      const imported = await db.tx(async (tx) => {
        const ids = await storeRateCards(tx, workspaceId, cards, { actor: member.actor, now })
        for (const id of ids) await audit(tx, member, 'rate_card.imported', `rate_card:${id}`, now)
        const stored = await listRateCards(tx, workspaceId)
        return { rateCards: stored.filter(({ id }) => ids.includes(id)).map(presentCard) }
      })
      await recount(workspaceId)
      return imported
    },
  })
  api.delete(`${path}/rate-cards/:rateCardId`, 'admin', {
    operationId: 'deleteRateCard',
    summary: 'Delete a rate card',
    description:
      'Days of this card then have the prices of the card before it, or none. The last one of a currency is kept while budgets need it: 409. For admins.',
    params: rateCardParams,
    errors: [409],
    run: async ({ member, params }) => {
      await db.tx(async (tx) => {
        if (!(await deleteRateCard(tx, member.workspaceId, params.rateCardId))) throw notFound('Rate card not found')
        await requireUnused(tx, member.workspaceId, { currency: null })
        await audit(tx, member, 'rate_card.deleted', `rate_card:${params.rateCardId}`, clock.now())
      })
      await recount(member.workspaceId)
    },
  })
}

function billingRoutes(api: TeamApi, { db, clock }: CostDeps): void {
  const recount = recounter({ db, clock })
  api.put(`${path}/billing-settings/connections/:connectionId`, 'admin', {
    operationId: 'setConnectionCurrency',
    summary: "Set a connection's currency",
    description:
      'For a connection whose account is billed in another currency than the billing settings say. Its costs are then summed in that currency. For admins.',
    params: connectionBillingParams,
    body: ConnectionBillingChange,
    run: async ({ member, params: { connectionId }, body }) => {
      await db.tx(async (tx) => {
        if (!(await setConnectionCurrency(tx, member.workspaceId, connectionId, body.currency)))
          throw notFound('Connection not found')
        await audit(tx, member, 'billing_settings.updated', `connection:${connectionId}`, clock.now())
      })
      await recountCosts(db, member.workspaceId, clock.now())
    },
  })
  api.patch(`${path}/billing-settings`, 'admin', {
    operationId: 'updateBillingSettings',
    summary: 'Update billing settings',
    description:
      'Says how the platform bills this workspace. All costs are computed again with it. The currency is kept while there are budgets in it: 409. For admins.',
    body: BillingSettingsChanges,
    errors: [409],
    answers: { 200: Type.Object({ settings: BillingSettings }) },
    run: async ({ member, body }) => {
      if (body.timeZone !== undefined && !isTimeZone(body.timeZone))
        throw invalid('timeZone', 'must be the IANA name of a time zone, such as America/Sao_Paulo')
      const now = clock.now()
      const settings = await db.tx(async (tx) => {
        const changed = await changeBillingSettings(tx, member.workspaceId, body)
        await requireUnused(tx, member.workspaceId, changed)
        await audit(tx, member, 'billing_settings.updated', null, now)
        return changed
      })
      await recount(member.workspaceId)
      return { settings }
    },
  })
}

/** Has everything that amounts are part of counted again: budgets at once, reports in the background. */
const recounter =
  ({ db, clock }: CostDeps) =>
  async (workspaceId: string): Promise<void> => {
    await countBudgetsNow({ db, clock }, workspaceId)
    await recountCosts(db, workspaceId, clock.now())
  }

type AuditTx = Parameters<typeof recordAudit>[0]

const audit = (tx: AuditTx, { workspaceId, actor }: Member, action: string, target: string | null, now: Date) =>
  recordAudit(tx, { scopeId: workspaceId, actor, action, target }, now)

const noMessages: CostSum = { messages: 0, charged: 0, free: 0, unknown: 0, unpriced: 0, amount: null }

function sumOf(group: CostGroup | undefined): CostSum {
  const { messages, charged, free, unknown, unpriced, amount } = group ?? noMessages
  return { messages, charged, free, unknown, unpriced, amount }
}

function presentGroups(groups: readonly CostGroup[], by: CostGrouping): Costs['groups'] {
  const presented = groups.map((group) => ({ key: group.keys[0] ?? null, ...sumOf(group) }))
  return by === 'day' ? presented.sort((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1)) : presented
}

const presentCard = ({ importedAt, ...card }: StoredCard) => ({ ...card, importedAt: importedAt.toISOString() })

const exportColumns: CostGrouping[] = ['day', 'connection', 'sender', 'template', 'category', 'type', 'country']
const exportCounts = ['messages', 'charged', 'free', 'unknown', 'unpriced'] as const
const linesPerPart = 1000

async function* exportLines(groups: readonly CostGroup[], currency: string | null): AsyncGenerator<string> {
  yield `\uFEFF${csvLine([...exportColumns, ...exportCounts, 'amount', 'currency'], ',')}`
  for (let at = 0; at < groups.length; at += linesPerPart) {
    const lines = groups.slice(at, at + linesPerPart).map((group) => {
      const keys = group.keys.map((key) => key ?? '')
      const counts = exportCounts.map((name) => String(group[name]))
      return csvLine([...keys, ...counts, group.amount ?? '', group.amount === null ? '' : (currency ?? '')], ',')
    })
    yield lines.join('')
  }
}
