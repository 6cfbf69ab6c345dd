import { newId } from '../../../src/base/id.ts'
import type { Pricing } from '../../../src/channels/channel-event.ts'
import { formatAmount, parseAmount } from '../../../src/inbox/budgets/budget.ts'
import { countBudgetsNow } from '../../../src/inbox/budgets/count-ledger.ts'
import { createBudget, listBudgets, type NewBudget } from '../../../src/inbox/budgets/manage-budgets.ts'
import { changeBillingSettings } from '../../../src/inbox/costs/billing-settings.ts'
import { parseRateCards } from '../../../src/inbox/costs/parse-rate-card.ts'
import { storeRateCards } from '../../../src/inbox/costs/rate-cards.ts'
import { sendWorld } from '../../support/inbox/send-world.ts'
import { brazil } from '../costs/charged-world.ts'

export type BudgetWorld = Awaited<ReturnType<typeof budgetWorld>>

type BudgetSettings = Partial<Omit<NewBudget, 'limit'>> & { limit: string }

const charged: Pricing = { type: 'regular', category: 'service', isBillable: true, freeUntil: null }

/** A workspace that sends, has budgets and gets no free messages unless the test says so. */
export async function budgetWorld(freeServiceMessages = 0) {
  const w = await sendWorld()
  const { db, clock, workspaceId } = w
  const deps = { db, clock }
  await db.tx((tx) => changeBillingSettings(tx, workspaceId, { freeServiceMessages }))
  let reports = 0
  return {
    ...w,
    addBudget: async ({ limit, ...settings }: BudgetSettings): Promise<string> => {
      const kind = { scope: 'workspace', scopeId: null, unit: 'messages', period: 'month' } as const
      const budget = { ...kind, ...settings, limit: parseAmount(limit) }
      const id = await db.tx((tx) => createBudget(tx, workspaceId, budget, clock.now()))
      await countBudgetsNow(deps, workspaceId)
      return id
    },
    /** Counts the ledger, as a timer does. */
    count: () => countBudgetsNow(deps, workspaceId),
    /** Returns what is used and reserved of each budget, in order. */
    uses: async (): Promise<string[]> => {
      const budgets = await listBudgets(db.sql, workspaceId, clock.now())
      return budgets.map(({ used, reserved }) => `${formatAmount(used)}+${formatAmount(reserved)}`)
    },
    importPrices: async (rows: readonly string[]) => {
      const csv = ['currency,market,category,from_message,price,valid_from', ...rows].join('\n')
      const cards = await parseRateCards(csv)
      const actor = { type: 'user', id: newId(clock.now()) } as const
      await db.tx((tx) => storeRateCards(tx, workspaceId, cards, { actor, now: clock.now() }))
    },
    /** The platform reports the price of its n-th accepted message, any number of times. */
    report: async (n: number, pricing: Partial<Pricing> = {}, status: 'sent' | 'delivered' = 'delivered') => {
      const { externalId = '' } = w.platform.accepted[n] ?? {}
      const at = new Date(clock.now().getTime() + reports++)
      await w.tell(w.status(externalId, status, { at, customer: brazil, pricing: { ...charged, ...pricing } }))
    },
  }
}

export const codesOf = (replies: readonly { status: number; body: { data?: { code?: string }; status?: string } }[]) =>
  replies.map(({ status, body }) => `${status} ${body.data?.code ?? body.status}`)

/** Sends to this many customers, one after the other; returns the codes. */
export async function sendEach(w: BudgetWorld, count: number): Promise<string[]> {
  const codes: string[] = []
  for (let n = 0; n < count; n++) codes.push(...codesOf([await w.post((await w.conversation()).id)]))
  return codes
}
