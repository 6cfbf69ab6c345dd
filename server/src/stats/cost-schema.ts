import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, text, unpaged } from '../base/schema-types.ts'
import { maxRateCardLength } from '../inbox/costs/parse-rate-card.ts'
import { costGroupings } from '../inbox/costs/read-costs.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'

const currency = (description: string) =>
  Type.String({ pattern: '^[A-Z]{3}$', maxLength: 3, description, example: 'USD' })
const accountDay = (description: string) =>
  Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$', maxLength: 10, description, example: '2026-10-01' })

export const CostPeriodQuery = Type.Object(
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

export const CostQuery = Type.Object(
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

const CostSum = titled('CostSum', sumFields)

/** Groups shown; the export has all. */
export const maxGroups = 1000

export const Costs = Type.Object({
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
  total: CostSum,
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
export type Costs = Static<typeof Costs>

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

export const BillingSettings = titled('BillingSettings', settingsFields)
export const BillingSettingsChanges = Type.Partial(Type.Object(settingsFields), closed)

export const RateCard = titled('RateCard', {
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

export const connectionBillingParams = Type.Object({ ...workspaceParams, connectionId: idSchema('The connection.') })
export const ConnectionBillingChange = Type.Object(
  {
    currency: nullable(currency('Currency in which its account is billed. Null: that of the billing settings.')),
  },
  closed,
)

export const RateCards = Type.Object({
  settings: BillingSettings,
  connections: Type.Array(ConnectionCurrency, {
    ...unpaged,
    description: 'Connections whose account is billed in another currency.',
  }),
  rateCards: Type.Array(RateCard, { ...unpaged, description: 'Newest first.' }),
})

export const RateCardImport = Type.Object(
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

export const rateCardParams = Type.Object({ ...workspaceParams, rateCardId: idSchema('The rate card.') })
