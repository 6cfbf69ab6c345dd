import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { eventCounts, leadsPath, quotaUsed } from '../../support/leads/leads.ts'
import { type World, world } from '../../support/world.ts'

interface Item {
  match: { by: string; value: string }
  lead: Record<string, unknown>
  createIfMissing?: boolean
}

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const phone = fc.constantFrom('5581991234567', '+55 81 9123-4567', '5215512345678', '525512345678', '12', '4930123456')
const lead = fc.record(
  {
    firstName: fc.constantFrom('Lia', 'Bia', ''),
    lastName: fc.option(fc.constantFrom('Lima', '')),
    status: fc.constantFrom('new', 'won', 'Bad'),
    externalRef: fc.option(name),
    uniqueCode: name,
    phone: fc.option(phone),
    estimatedValue: fc.option(fc.constantFrom(1, 2.5, 1.234)),
    customFieldValues: fc.constantFrom({ city: 'Recife' }, { city: null }, { Bad: 'x' }),
    unknown: fc.constant(1),
  },
  { requiredKeys: [] },
)
const match = fc.oneof(
  fc.record({ by: fc.constantFrom('externalRef', 'uniqueCode'), value: name }),
  fc.record({ by: fc.constant('phone'), value: phone }),
  fc.record({ by: fc.constant('id'), value: fc.constantFrom('seed 0', 'seed 1', 'nobody') }),
)
// Mostly valid items: the first three fields are rare, the unknown one very rare.
const item = fc
  .tuple(match, lead, fc.integer({ min: 0, max: 9 }), fc.boolean())
  .map(([matcher, fields, dice, create]): Item => {
    const { unknown, ...known } = fields
    const sent = {
      ...(dice < 7 ? { firstName: 'Named' } : {}),
      ...known,
      ...(dice === 9 && unknown ? { unknown } : {}),
    }
    return { match: matcher, lead: sent, ...(create ? {} : { createIfMissing: dice > 3 }) }
  })

interface Side {
  w: World
  seeds: string[]
  /** Ids in order of first appearance: the same lead has the same position on both sides. */
  ids: string[]
}

async function side(): Promise<Side> {
  const w = await world({ dailyLeadQuota: 12 })
  const seeds = [await w.lead({ externalRef: 'a', phone: '558191234567' }), await w.lead({ uniqueCode: 'b' })]
  const ids = seeds.map((seed) => seed.id)
  return { w, seeds: ids, ids: [...ids] }
}

const withIds = (items: Item[], { seeds }: Side) =>
  items.map(({ match: { by, value }, ...rest }) => ({
    ...rest,
    match: { by, value: value.startsWith('seed') ? (seeds[Number(value.slice(5))] ?? '') : value },
  }))

// biome-ignore lint/suspicious/noExplicitAny: leads as the service shows them
function plain(shown: any, { ids }: Side) {
  if (!ids.includes(shown.id)) ids.push(shown.id)
  const uniqueCode = /^L[0-9A-Z]{11}$/.test(shown.uniqueCode) ? 'generated' : shown.uniqueCode
  return { ...shown, id: ids.indexOf(shown.id), uniqueCode }
}

// Paths of issues start with the item in a batch, and with the body otherwise.
const errorText = ({ statusCode, statusMessage, data }: { statusCode: number; statusMessage: string; data?: object }) =>
  JSON.stringify({ statusCode, statusMessage, data: data ?? null }).replaceAll(/items\[\d+\](?:\.|(?="))/g, '')

async function together(side: Side, items: Item[]) {
  const { body } = await side.w.call('POST', `${leadsPath}/bulk-upsert`, { body: { items: withIds(items, side) } })
  return body.results.map((result: { action?: string; lead: object; error: never }) =>
    result.action ? [result.action, plain(result.lead, side)] : errorText(result.error),
  )
}

/** Returns the result of a dry run per item, without the ids of leads that it would create. */
async function runDry(side: Side, items: Item[]) {
  const options = { query: { dryRun: 'true' }, body: { items: withIds(items, side) } }
  const { body } = await side.w.call('POST', `${leadsPath}/bulk-upsert`, options)
  return body.results.map((result: { action?: string; error: never }) => result.action ?? errorText(result.error))
}

async function oneByOne(side: Side, items: Item[]) {
  const outcomes = []
  for (const body of withIds(items, side)) {
    const { status, body: answer } = await side.w.call('POST', `${leadsPath}/upsert`, { body })
    outcomes.push(status === 200 ? [answer.action, plain(answer.data, side)] : errorText(answer))
  }
  return outcomes
}

async function everything(side: Side) {
  const query = { limit: '100', sortOrder: 'asc' }
  const { body } = await side.w.call('GET', leadsPath, { query })
  const details = []
  for (const { id } of body.data) {
    const { body: read } = await side.w.call('GET', `${leadsPath}/${id}`)
    const events = await side.w.events(id)
    const shown = events.map(({ name, payload }) => [name, plain(payload, side), payload.previousStatus])
    details.push([plain(read.data, side), shown])
  }
  const { w } = side
  const found = []
  // Terms that cannot be in a generated uniqueCode, which differs on each side: codes have no I and start with L.
  for (const search of ['Lia', 'named lima', 'Bia', '1234567', 'a', 'e', '4930123']) {
    const { body: hits } = await w.call('GET', leadsPath, { query: { ...query, search } })
    found.push(hits.data.map(({ id }: { id: string }) => side.ids.indexOf(id)).sort())
  }
  const [changes] = await w.db.sql`
    select string_agg(from_status || ' ' || to_status, ',' order by id) as list
    from lead_status_changes
    where workspace_id = ${w.workspaceId}`
  return { details, found, changes, counts: await eventCounts(w), quota: await quotaUsed(w) }
}

test('a batch equals its items one by one: responses, leads, search results, events, history and quota; a dry run predicts it', async () => {
  const seen = new Set<string>()
  const batches = fc.array(fc.array(item, { minLength: 4, maxLength: 14 }), { minLength: 1, maxLength: 2 })
  await fc.assert(
    fc.asyncProperty(batches, async (rounds) => {
      const [left, right] = [await side(), await side()]
      for (const items of rounds) {
        const foretold = await runDry(left, items)
        const results = await together(left, items)
        assert.deepEqual(results, await oneByOne(right, items))
        const told = results.map((result: unknown) => (Array.isArray(result) ? result[0] : result))
        assert.deepEqual(foretold, told)
        for (const result of results)
          seen.add(typeof result === 'string' ? String(JSON.parse(result).statusCode) : result[0])
        left.w.clock.advance(1000)
      }
      assert.deepEqual(await everything(left), await everything(right))
    }),
    { numRuns: 9, seed: 4 },
  )
  for (const outcome of ['created', 'updated', '400', '404', '409']) assert.ok(seen.has(outcome), outcome)
})
