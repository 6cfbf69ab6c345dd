import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { budgetPeriods, budgetScopes, budgetUnits } from '../inbox/budgets/budget.ts'
import { maxBudgets } from '../inbox/budgets/manage-budgets.ts'
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

export const Budget = titled('Budget', {
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

export const Budgets = Type.Object({ budgets: Type.Array(Budget, { maxItems: maxBudgets }) })
export type Budgets = Static<typeof Budgets>

export const NewBudget = Type.Object(
  {
    scope,
    scopeId: Type.Optional(nullable(idSchema('Required for a connection or a key; not for the workspace.'))),
    unit,
    period,
    limit,
  },
  closed,
)

export const BudgetChange = Type.Object({ limit }, closed)

export const BudgetAnswer = Type.Object({ budget: Budget })

export const budgetParams = Type.Object({ ...workspaceParams, budgetId: idSchema('The budget.') })
