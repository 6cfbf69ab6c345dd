import { type Static, Type } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/db.ts'
import { invalid, notFound } from '../base/errors.ts'
import { type App, nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, text, unpaged } from '../base/schema-types.ts'
import { isTimeZone } from '../base/time.ts'
import { countBudgetsNow } from '../inbox/budgets/count-ledger.ts'
import { requireUnused } from '../inbox/budgets/manage-budgets.ts'
import {
  changeBillingSettings,
  findBillingSettings,
  listConnectionCurrencies,
  setConnectionCurrency,
} from '../inbox/costs/billing-settings.ts'
import { maxRateCardLength, parseRateCards } from '../inbox/costs/parse-rate-card.ts'
import type { RateCard as StoredCard } from '../inbox/costs/rate-cards.ts'
import { deleteRateCard, listRateCards, storeRateCards } from '../inbox/costs/rate-cards.ts'
import {
  type CostGroup,
  type CostGrouping,
  type CostSum,
  costGroupings,
  costScopeOf,
  readCosts,
} from '../inbox/costs/read-costs.ts'
import { fileResponse, sendFile } from '../leads/transfer/export/export.ts'
import { csvLine } from '../leads/transfer/file/cells.ts'
import { recountCosts } from '../reports/queue.ts'
import { recordAudit } from '../team/audit.ts'
import { periodOf } from '../team/day-period.ts'
import type { Member, TeamGuard } from '../team/member.ts'
import { type TeamApi, teamApi } from '../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'

const currency = (description: string) =>
  Type.String({ pattern: '^[A-Z]{3}$', maxLength: 3, description, example: 'USD' })
const accountDay = (description: string) =>
  Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$', maxLength: 10, description, example: '2026-10-01' })

const CostPeriodQuery = Type.Object(
  {
    currency: Type.Optional(
      currency('Only connections that are billed in this currency. Default: that of the billing settings.'),
    ),
    from: Type.Optional(
      accountDay('First day, in the time zone of the billing settings. Default: 29 days before `to`.'),
    ),
    to: Type.Optional(accountDay('Last day. Default: today. At most 366 days.')),
  },
  closed,
)

const CostQuery = Type.Object(
  {
    ...CostPeriodQuery.properties,
    by: Type.Optional(oneOf(costGroupings, { description: 'What the groups are. Default `day`.' })),
  },
  closed,
)

const sumFields = {
  messages: count('Platform messages with a price: each part of a split text is one. Failed messages are left out.'),
  charged: count('Those that the platform charges for.'),
  free: count('Those that are free of charge.'),
  unknown: count('Those of which the platform did not say whether it charges.'),
  unpriced: count('Charged messages without a price on the rate card; the amount does not contain them.'),
  amount: nullable(
    Type.String({
      maxLength: 60,
      description:
        'Exact decimal number, by the imported rate card. Null if no message has a price; never zero for unknown.',
      example: '12.4875',
    }),
  ),
}

/** Groups shown; the export has all. */
const maxGroups = 1000

const Costs = Type.Object({
  from: accountDay('First day.'),
  to: accountDay('Last day.'),
  timeZone: text(64, 'Time zone of the days and months.'),
  currency: nullable(
    currency('Currency of the amounts; null without rate cards, or if the billing settings must name it.'),
  ),
  currencies: Type.Array(currency('One of them.'), {
    maxItems: 200,
    description: 'Currencies in which connections are billed; amounts are never converted, so each has its own sums.',
  }),
  total: titled('CostSum', sumFields),
  groups: Type.Array(
    Type.Object({
      key: nullable(
        text(
          512,
          'A day, a connection id, `agent:`, `user:` or `token:` with an id, a template, category, type, ISO country code or conversation id. Null if there is none, such as for messages of other apps.',
        ),
      ),
      ...sumFields,
    }),
    { maxItems: maxGroups, description: 'Largest amount first, then most messages; days in order.' },
  ),
})
type Costs = Static<typeof Costs>

const settingsFields = {
  currency: nullable(
    currency('Currency in which the platform bills. Null: that of the imported rate cards, if they all have one.'),
  ),
  timeZone: text(
    64,
    "IANA name of the business account's time zone: its months decide about free messages and tiers, its days about rate cards.",
    { minLength: 1, example: 'America/Sao_Paulo' },
  ),
  freeServiceMessages: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    description:
      'Service messages that each number may send free of charge in a month. Applied to months in which the platform reports none as free.',
  }),
}

const BillingSettings = titled('BillingSettings', settingsFields)
const BillingSettingsChanges = Type.Partial(Type.Object(settingsFields), closed)

const RateCard = titled('RateCard', {
  id: idSchema('The rate card.'),
  currency: currency('Currency of the prices.'),
  validFrom: accountDay('First day of the prices.'),
  importedAt: timestamp('Time of the import.'),
  rates: count('Number of prices.'),
})

const ConnectionCurrency = titled('ConnectionCurrency', {
  connectionId: idSchema('The connection.'),
  currency: currency('Currency in which its account is billed.'),
})

const connectionBillingParams = Type.Object({ ...workspaceParams, connectionId: idSchema('The connection.') })
const ConnectionBillingChange = Type.Object(
  {
    currency: nullable(currency('Currency in which its account is billed. Null: that of the billing settings.')),
  },
  closed,
)

const RateCards = Type.Object({
  settings: BillingSettings,
  connections: Type.Array(ConnectionCurrency, {
    ...unpaged,
    description: 'Connections whose account is billed in another currency.',
  }),
  rateCards: Type.Array(RateCard, { ...unpaged, description: 'Newest first.' }),
})

const RateCardImport = Type.Object(
  {
    csv: Type.String({
      maxLength: maxRateCardLength,
      description:
        'CSV of the platform, as downloaded: its prices, then its volume tiers, which are added to the prices. Or with the columns `currency`, `market`, `category`, `price`, `valid_from` and optionally `from_message`, the first message of the month with this price.',
      example: 'currency,market,category,from_message,price,valid_from\nUSD,Brazil,utility,1,0.0068,2026-10-01\n',
    }),
    validFrom: Type.Optional(
      Type.String({
        maxLength: 10,
        description:
          'Day from which a file of the platform is valid, which the file itself does not say; in the account’s time zone.',
        example: '2026-10-01',
      }),
    ),
  },
  closed,
)

const rateCardParams = Type.Object({ ...workspaceParams, rateCardId: idSchema('The rate card.') })

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

function rateCardRoutes(api: TeamApi, deps: CostDeps): void {
  const { db, clock } = deps
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
      await recount(deps, workspaceId)
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
      await recount(deps, member.workspaceId)
    },
  })
}

function billingRoutes(api: TeamApi, deps: CostDeps): void {
  const { db, clock } = deps
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
      await recount(deps, member.workspaceId)
      return { settings }
    },
  })
}

/** Has everything that amounts are part of counted again: budgets at once, reports in the background. */
async function recount({ db, clock }: CostDeps, workspaceId: string): Promise<void> {
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
