import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { budgetWorld } from './budget-world.ts'

const limit = 8
const [lanes, stepsPerLane] = [3, 14]

/** What one of several clients does next. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.constant('send' as const) },
  { weight: 3, arbitrary: fc.nat({ max: 40 }) },
  { weight: 1, arbitrary: fc.constant('count' as const) },
)
const plans = fc.array(fc.array(step, { minLength: stepsPerLane, maxLength: stepsPerLane }), {
  minLength: lanes,
  maxLength: lanes,
})

/** Every third message is free. */
const isFree = (n: number): boolean => n % 3 === 2

test('sends, late prices and counts on two nodes never spend more than the budget, and nothing stays reserved', async () => {
  await fc.assert(
    fc.asyncProperty(plans, async (all) => {
      const w = await budgetWorld()
      const node = await w.addNode()
      await w.addBudget({ limit: String(limit) })
      const reported = new Set<number>()
      const report = async (n: number) => {
        reported.add(n)
        await w.report(n, isFree(n) ? { type: 'free_customer_service', isBillable: false } : {})
      }
      const run = async (one: (typeof all)[number][number], lane: number) => {
        w.clock.advance(1_500)
        if (one === 'send') await w.post((await w.conversation()).id, lane % 2 === 0 ? {} : { node })
        else if (one === 'count') await w.count()
        else if (one < w.platform.accepted.length) await report(one)
      }
      await Promise.all(
        all.map(async (steps, lane) => {
          for (const one of steps) await run(one, lane)
        }),
      )
      const sent = w.platform.accepted.map((_, n) => n)
      const mayCost = sent.filter((n) => !(isFree(n) && reported.has(n)))
      assert.ok(mayCost.length <= limit, `${mayCost.length} of ${limit}`)
      for (const n of sent) await report(n)
      await w.count()
      assert.deepEqual(await w.uses(), [`${sent.filter((n) => !isFree(n)).length}+0`])
      // A long run would need more connections than the server has.
      await node.deps.db.close()
    }),
    {
      numRuns: Number(process.env.BUDGET_ROUNDS ?? 6),
      ...(process.env.BUDGET_SEED !== undefined && { seed: Number(process.env.BUDGET_SEED) }),
    },
  )
})
