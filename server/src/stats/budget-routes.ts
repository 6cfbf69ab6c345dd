import { type Static, Type } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { Db, Tx } from '../base/db.ts'
import { invalid, notFound } from '../base/errors.ts'
import { type App, nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { shownAmount } from '../inbox/budgets/alerts.ts'
import type { Amount, BudgetUnit, Budget as StoredBudget } from '../inbox/budgets/budget.ts'
import { budgetPeriods, budgetScopes, budgetUnits, oneMessage, parseAmount } from '../inbox/budgets/budget.ts'
import { countBudgetsNow, recountBudgets } from '../inbox/budgets/count-ledger.ts'
import { changeBudget, createBudget, deleteBudget, listBudgets, maxBudgets } from '../inbox/budgets/manage-budgets.ts'
import { recordAudit } from '../team/audit.ts'
import type { Member, TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'

const amount = (description: string, example: string) => Type.String({ maxLength: 60, description, example })

/** At most 12 digits before the point, and 8 behind it: what the table holds. */
const limit = Type.String({
  pattern: '^\\d{1,12}(?:\\.\\d{1,8})?$',
  maxLength: 21,
  description: 'More than 0: a decimal number for `money`, a whole number for `messages`.',
  example: '250',
})

const unit = oneOf(budgetUnits, {
  description:
    '`money`: what the platform charges, by the imported rate card. `messages`: platform messages that it charges for; each part of a split text is one.',
})
const period = oneOf(budgetPeriods, {
  description: 'Calendar day or month in the time zone of the billing settings.',
})
const scope = oneOf(budgetScopes, {
  description: 'Whose sends it limits: all of the workspace, those on one connection, or those of one API key.',
})

const Budget = titled('Budget', {
  id: idSchema('The budget.'),
  scope,
  scopeId: nullable(idSchema('The connection or the key; null for the workspace.')),
  unit,
  currency: nullable(Type.String({ maxLength: 3, description: 'Currency of `money`.', example: 'USD' })),
  period,
  limit: amount('Largest amount of a period.', '250'),
  used: amount('What the platform charged in this period, and what it may charge for messages on their way.', '120.5'),
  reserved: amount('The part of `used` for messages whose price the platform has not reported yet.', '0.5'),
  resetsAt: timestamp('When the next period begins.'),
})

const Budgets = Type.Object({ budgets: Type.Array(Budget, { maxItems: maxBudgets }) })
type Budgets = Static<typeof Budgets>

const NewBudget = Type.Object(
  {
    scope,
    scopeId: Type.Optional(nullable(idSchema('Required for a connection or a key; not for the workspace.'))),
    unit,
    period,
    limit,
  },
  closed,
)

const BudgetChange = Type.Object({ limit }, closed)

const BudgetAnswer = Type.Object({ budget: Budget })

const budgetParams = Type.Object({ ...workspaceParams, budgetId: idSchema('The budget.') })

interface BudgetDeps {
  db: Db
  clock: Clock
}

const path = '/api/team/v1/workspaces/:workspaceId/budgets'

/** Adds the routes of budgets, which limit what messages may cost. */
export function budgetTeamRoutes(app: App, deps: BudgetDeps, guard: TeamGuard): void {
  const { db, clock } = deps
  const api = teamApi(app, guard, 'Costs')
  api.get(path, 'admin', {
    operationId: 'listBudgets',
    summary: 'List budgets',
    description:
      'Limits of what messages may cost in a day or month, with what is used. Before a message is sent, what it may cost is reserved; it is given back if the message fails, and replaced by what the platform reports. For admins.',
    answers: { 200: Budgets },
    run: async ({ member: { workspaceId } }) => {
      await recountBudgets(deps, workspaceId)
      return { budgets: (await listBudgets(db.sql, workspaceId, clock.now())).map(presentBudget) }
    },
  })
  api.post(path, 'admin', {
    operationId: 'createBudget',
    summary: 'Create a budget',
    description:
      'Limits sends from now on, including what was used in the current period. Agents are refused with 429 `BUDGET_REACHED` when it is used up; people are asked to confirm. One per scope, unit and period. `money` needs an imported rate card: 422 `RATE_CARD_REQUIRED` without one. For admins.',
    body: NewBudget,
    answers: { 201: BudgetAnswer },
    errors: [409, 422],
    run: async ({ member, body }) => {
      const { scope, scopeId = null, unit, period } = body
      const limit = parseLimit(body.limit, unit)
      const now = clock.now()
      const id = await db.tx(async (tx) => {
        const id = await createBudget(tx, member.workspaceId, { scope, scopeId, unit, period, limit }, now)
        await audit(tx, member, 'budget.created', id, now)
        return id
      })
      return countedBudget(deps, member.workspaceId, id)
    },
  })
  api.patch(`${path}/:budgetId`, 'admin', {
    operationId: 'updateBudget',
    summary: 'Change the limit of a budget',
    description: 'The new limit applies to the current period. For admins.',
    params: budgetParams,
    body: BudgetChange,
    answers: { 200: BudgetAnswer },
    run: async ({ member, params: { budgetId }, body }) => {
      const now = clock.now()
      const { unit } = await findBudget(deps, member.workspaceId, budgetId)
      const limit = parseLimit(body.limit, unit)
      await db.tx(async (tx) => {
        await changeBudget(tx, member.workspaceId, budgetId, limit, now)
        await audit(tx, member, 'budget.updated', budgetId, now)
      })
      return countedBudget(deps, member.workspaceId, budgetId)
    },
  })
  api.delete(`${path}/:budgetId`, 'admin', {
    operationId: 'deleteBudget',
    summary: 'Delete a budget',
    description: 'It limits nothing any more. For admins.',
    params: budgetParams,
    run: async ({ member, params: { budgetId } }) => {
      await db.tx(async (tx) => {
        await deleteBudget(tx, member.workspaceId, budgetId)
        await audit(tx, member, 'budget.deleted', budgetId, clock.now())
      })
      await countBudgetsNow(deps, member.workspaceId)
    },
  })
}

const audit = (tx: Tx, { workspaceId, actor }: Member, action: string, id: string, now: Date) =>
  recordAudit(tx, { scopeId: workspaceId, actor, action, target: `budget:${id}` }, now)

function parseLimit(text: string, unit: BudgetUnit): Amount {
  const limit = parseAmount(text)
  if (limit === 0n) throw invalid('limit', 'must be more than 0')
  if (unit === 'messages' && limit % oneMessage !== 0n) throw invalid('limit', 'must be a whole number of messages')
  return limit
}

async function findBudget({ db, clock }: BudgetDeps, workspaceId: string, id: string): Promise<StoredBudget> {
  const budget = (await listBudgets(db.sql, workspaceId, clock.now())).find((one) => one.id === id)
  if (budget === undefined) throw notFound('Budget not found')
  return budget
}

async function countedBudget(deps: BudgetDeps, workspaceId: string, id: string) {
  await countBudgetsNow(deps, workspaceId)
  return { budget: presentBudget(await findBudget(deps, workspaceId, id)) }
}

function presentBudget(budget: StoredBudget): Budgets['budgets'][number] {
  const { id, scope, scopeId, unit, currency, period, limit, used, reserved, until } = budget
  const shown = (amount: Amount) => shownAmount(amount, unit)
  return {
    ...{ id, scope, scopeId: scope === 'workspace' ? null : scopeId, unit, currency, period },
    ...{ limit: shown(limit), used: shown(used + reserved), reserved: shown(reserved) },
    resetsAt: until.toISOString(),
  }
}
