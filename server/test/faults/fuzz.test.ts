import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fullWorkspace } from '../support/faults/full-workspace.ts'
import { ask, describeRequest, type Manner, requestOf, violationsOf } from '../support/faults/fuzz.ts'
import { oneOf, randomFrom } from '../support/faults/values.ts'

const rounds = Number(process.env.FUZZ_ROUNDS ?? 1)
const seed = Number(process.env.FUZZ_SEED ?? 20_260_310)
const manners: readonly Manner[] = ['fitting', 'nearly', 'hostile']
/** The normal test run calls each operation in one manner, the fault test in all. */
const isShort = process.env.FUZZ_ROUNDS === undefined
/** Enough rounds that removed things exist again. */
const roundsOfOne = 3

test('every operation answers any input of any caller with a status and a body of its contract, and never with 500', async (t) => {
  const random = randomFrom(seed)
  const found = new Set<string>()
  const statuses: Record<string, number> = {}
  let requests = 0
  let w = await fullWorkspace()
  for (let round = 0; round < rounds; round++) {
    if (round > 0 && round % roundsOfOne === 0) w = await fullWorkspace()
    for (const [at, op] of w.operations.entries()) {
      for (const manner of isShort ? [manners[at % manners.length] ?? 'fitting'] : manners) {
        const caller = callerFor(op.path, manner)
        const request = requestOf(w, op, manner, random)
        const response = await ask(w, request, caller)
        requests++
        const kind = `${Math.floor((response?.status ?? 0) / 100)}xx`
        statuses[kind] = (statuses[kind] ?? 0) + 1
        if (manner === 'fitting') await w.restoreAccess(op)
        for (const fault of violationsOf(op, request, response))
          found.add(`${fault}\n  ${describeRequest(request, caller)}`)
      }
    }
    await w.refreshIds()
  }
  t.diagnostic(`${requests} requests: ${JSON.stringify(statuses)}`)
  assert.deepEqual([...found], [])
  assert.ok((statuses['2xx'] ?? 0) > requests / 8, 'many requests succeed')

  function callerFor(path: string, manner: Manner) {
    const { nobody, key, maskedKey, narrowKey, owner, member, operator } = w.callers
    if (random() < 0.1) return oneOf(random, Object.values(w.callers))
    if (path.startsWith('/api/team'))
      return oneOf(random, manner === 'fitting' ? [owner, operator] : [owner, member, operator])
    if (path.startsWith('/api/')) return oneOf(random, manner === 'fitting' ? [key] : [key, maskedKey, narrowKey])
    return nobody
  }
})
