import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { indexLeads } from '../../../src/leads/search/index-leads.ts'
import { fillLeads } from '../../support/fill.ts'
import { leadsPath } from '../../support/leads/leads.ts'
import { type ImageWorld, imageWorld } from '../../support/leads/memory-index-world.ts'
import { makeTokens } from '../../support/tokens.ts'
import { type World, world } from '../../support/world.ts'

type Named = { firstName: string; lastName?: string | null; externalRef?: string; email?: string }

/** The names that a search finds: by the database without and with tokens, and by an image. */
async function namesOf(w: ImageWorld, search: string): Promise<string[]> {
  const [node] = w.nodes
  assert.ok(node)
  assert.equal(await node.images.warm(w.workspaceId), true)
  const answers = [await ask(w, search)]
  await makeTokens(w)
  answers.push(await ask(w, search), namesIn((await node.list({ search, limit: '100' })).body))
  assert.deepEqual(answers[1], answers[0], `${search}: with tokens`)
  assert.deepEqual(answers[2], answers[0], `${search}: by the image`)
  assert.equal(node.counts.database, 0)
  return answers[0] ?? []
}

const ask = async (w: World, search: string) =>
  namesIn((await w.call('GET', leadsPath, { query: { search, limit: '100' } })).body)

function namesIn({ data, pagination }: { data: Named[]; pagination: { total: number } }): string[] {
  assert.equal(pagination.total, data.length)
  return data.map(({ firstName, lastName }) => [firstName, ...(lastName == null ? [] : [lastName])].join('|')).sort()
}

const people: Named[] = [
  { firstName: 'Li', lastName: 'Wei' },
  { firstName: 'Lia', lastName: 'Weiss' },
  { firstName: 'Bo', lastName: 'Óscar Ó' },
  { firstName: 'Boris', lastName: "O'Brien-Li" },
  { firstName: 'J. R.', lastName: 'da Silva' },
  { firstName: 'Ana (Bo)', lastName: 'D’Ávila' },
  { firstName: '王伟' },
  { firstName: '伟', lastName: '王' },
  { firstName: '王小伟', externalRef: '客户-7' },
  { firstName: '欧阳娜娜', lastName: 'Nana' },
  { firstName: 'りえ', lastName: 'さとう' },
  { firstName: 'ケン', lastName: '𠮷田' },
  { firstName: 'สมชาย', lastName: 'ใจดี' },
  { firstName: '이민호' },
  { firstName: 'Эд', lastName: 'Ян' },
  { firstName: '🙂', lastName: 'Smile' },
]

const finds: [term: string, names: string[]][] = [
  ['Li', ["Boris|O'Brien-Li", 'Li|Wei']],
  ['LI', ["Boris|O'Brien-Li", 'Li|Wei']],
  ['Li Wei', ['Li|Wei']],
  ['We', []],
  ['Bo', ['Ana (Bo)|D’Ávila', 'Bo|Óscar Ó']],
  ['bó', ['Ana (Bo)|D’Ávila', 'Bo|Óscar Ó']],
  ['Ó', ['Bo|Óscar Ó']],
  ['o', ['Bo|Óscar Ó']],
  ['O\u0301', ['Bo|Óscar Ó']],
  ['J', ['J. R.|da Silva']],
  ['r.', ['J. R.|da Silva']],
  ['da', ['J. R.|da Silva']],
  ['d', []],
  ['Эд', ['Эд|Ян']],
  ['ян', ['Эд|Ян']],
  ['Я', []],
  ['🙂', ['🙂|Smile']],
  ['王伟', ['王伟']],
  ['王', ['伟|王', '王伟', '王小伟']],
  ['伟', ['伟|王', '王伟', '王小伟']],
  ['小伟', ['王小伟']],
  ['王小', ['王小伟']],
  ['伟王', []],
  ['伟 王', ['伟|王']],
  ['娜娜', ['欧阳娜娜|Nana']],
  ['阳娜娜', ['欧阳娜娜|Nana']],
  ['客户', ['王小伟']],
  ['客', ['王小伟']],
  ['りえ', ['りえ|さとう']],
  ['とう', ['りえ|さとう']],
  ['え', ['りえ|さとう']],
  ['ｹﾝ', ['ケン|𠮷田']],
  ['𠮷', ['ケン|𠮷田']],
  ['𠮷田', ['ケン|𠮷田']],
  ['ชา', ['สมชาย|ใจดี']],
  ['ใจ', ['สมชาย|ใจดี']],
  ['이', ['이민호']],
  ['민호', ['이민호']],
  ['李', []],
]

test('terms of one and two letters find whole words of names, and any part in scripts without blanks', async () => {
  const w = await imageWorld()
  for (const lead of people) await w.lead(lead)
  for (const [term, names] of finds) assert.deepEqual(await namesOf(w, term), [...names].sort(), term)
})

test('an e-mail, a phone and the middle of a word are not found by a letter or two', async () => {
  const w = await imageWorld()
  await w.lead({ firstName: 'Marina', email: 'li@bo.de', phone: '5581991234567', externalRef: 'Crm Li' })
  for (const term of ['li', 'bo', 'de', '@b', '55', '7', 'ma', 'na', 'm'])
    assert.deepEqual(await namesOf(w, term), [], term)
  assert.deepEqual(await namesOf(w, 'cr'), ['Marina'])
})

test('a short word is found by what the name says now', async () => {
  const w = await imageWorld()
  const { id } = await w.lead({ firstName: 'Bo', lastName: '王伟' })
  assert.deepEqual(await namesOf(w, 'bo'), ['Bo|王伟'])
  await w.call('PATCH', `${leadsPath}/${id}`, { body: { firstName: 'Jo', lastName: '李雷' } })
  for (const term of ['bo', '王伟', '王']) assert.deepEqual(await namesOf(w, term), [], term)
  for (const term of ['jo', '李雷', '李']) assert.deepEqual(await namesOf(w, term), ['Jo|李雷'], term)
})

// --- against an oracle that knows the plain names ---

const scripts = ["ab Ó'-.", 'эд ', '王伟小 ', 'りえト ', 'สมช ', '한이 ', '🙂']
const unspaced = /[王伟小りえトสมช]|[\u1100-\u11ff]/u
const name = fc
  .array(
    fc.constantFrom(...scripts).chain((letters) => fc.string({ unit: fc.constantFrom(...letters), maxLength: 4 })),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((parts) => parts.join(''))

const fold = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/g, ' ').trim()

function oracle({ firstName, lastName }: Named, term: string): boolean {
  const line = fold(`${firstName} ${lastName ?? ''}`)
  if ([...term].length > 2 || unspaced.test(term)) return line.includes(term)
  return [...line.split(' '), ...line.split(/[ .🙂-]+/u)].includes(term)
}

test('random names in several scripts are found by exactly the terms that the rule names, by database and image alike', async () => {
  const w = await imageWorld()
  const known = fc
    .sample(fc.record({ firstName: name, lastName: fc.option(name) }), { numRuns: 400, seed: 77 })
    .filter(({ firstName }) => fold(firstName) !== '')
    .slice(0, 150)
  const items = known.map((lead, n) => ({
    match: { by: 'externalRef', value: `@${n}` },
    lead: { ...lead, lastName: lead.lastName?.trim() ? lead.lastName : null, uniqueCode: `@@${n}` },
  }))
  for (const part of [items.slice(0, 75), items.slice(75)]) {
    const { body } = await w.call('POST', `${leadsPath}/bulk-upsert`, { body: { items: part } })
    assert.equal(body.created, part.length, JSON.stringify(body.results))
  }
  await makeTokens(w)
  const [node] = w.nodes
  assert.ok(node)
  assert.equal(await node.images.warm(w.workspaceId), true)
  const lines = known.map(({ firstName, lastName }) => [...fold(`${firstName} ${lastName ?? ''}`)])
  const pieces = lines.flatMap((line) =>
    line.flatMap((one, at) => [one, line.slice(at, at + 2).join(''), one.repeat(2)]),
  )
  const terms = [...new Set(pieces.map((piece) => piece.trim()))].filter((term) => term !== '')
  let [hits, misses] = [0, 0]
  for (const term of terms) {
    const expected = known.filter((lead) => oracle(lead, term)).length
    const asked = { search: term, limit: '1' }
    const { body } = await w.call('GET', leadsPath, { query: asked })
    assert.equal(body.pagination.total, expected, `${term} of the database`)
    assert.equal((await node.list(asked)).body.pagination.total, expected, `${term} of the image`)
    if (expected > 0) hits++
    else misses++
  }
  assert.ok(hits > 100 && misses > 10, `${hits} terms found somebody, ${misses} nobody`)
})

// --- what was indexed by an earlier version ---

/** As the version before would have left the workspace, whose tokens lack some. */
async function makeOld(w: World, lacking: readonly number[]): Promise<void> {
  await w.db.sql`
    update lead_search
    set tokens = (select array_agg(token) from unnest(tokens) as token where token <> all (${lacking}::integer[]))
    where workspace_id = ${w.workspaceId}
      and tokens && ${lacking}::integer[]`
  await w.db.sql`
    update lead_search_feeds
    set rules = 1
    where workspace_id = ${w.workspaceId}`
}

async function tokensOf(w: World): Promise<Map<string, string>> {
  const rows = await w.db.sql<{ id: string; mark: string; tokens: number[] }[]>`
    select lead_id as id, ctid::text || xmin::text as mark, tokens
    from lead_search
    where workspace_id = ${w.workspaceId}`
  return new Map(rows.map(({ id, tokens, mark }) => [id, `${tokens} ${mark}`]))
}

test('leads that an earlier version indexed are found by short terms after the next look of a worker, and until then as before', async () => {
  const w = await world()
  const { id } = await w.lead({ firstName: 'Li', lastName: '王伟', externalRef: '客户-7' })
  const other = await w.lead({ firstName: 'Marina' })
  await makeTokens(w)
  const keyring = await w.vault.keyring(w.workspaceId)
  await makeOld(w, keyring.tokens(['\u0002li', '\u0003', '王伟', '客户']))
  const before = await tokensOf(w)
  for (const term of ['li', '王伟', '王']) assert.deepEqual(await ask(w, term), [], term)
  for (const term of ['客户', 'li 王', 'i 王']) assert.deepEqual(await ask(w, term), ['Li|王伟'], term)
  while ((await indexLeads(w)) > 0);
  for (const term of ['li', '王伟', '王', '客户', 'li 王']) assert.deepEqual(await ask(w, term), ['Li|王伟'], term)
  const after = await tokensOf(w)
  assert.notEqual(after.get(id), before.get(id))
  assert.equal(after.get(other.id), before.get(other.id), 'tokens that are right are not written')
})

test('tokens of earlier rules are made anew in steps, each in one transaction with its place, behind what has changed', async () => {
  const w = await world()
  const filling = { ...w, keyring: await w.vault.keyring(w.workspaceId), now: w.clock.now() }
  // Their tokens are of no use.
  await fillLeads(filling, 1_203)
  await w.db.sql`insert into event_feeds (workspace_id, last_position) values (${w.workspaceId}, 0)`
  await w.db.sql`insert into lead_search_feeds (workspace_id, position) values (${w.workspaceId}, 0)`
  assert.deepEqual(await ask(w, '77'), [])
  await w.lead({ firstName: 'Bo' })
  await w.sequencer.placeAll()
  let transactions = 0
  const tx: World['db']['tx'] = (work) =>
    w.db.tx(async (inner) => {
      const result = await work(inner)
      if (++transactions === 3) throw new Error('dead')
      return result
    })
  // The lead that changed, 500, and then it dies.
  await assert.rejects(indexLeads({ db: { ...w.db, tx }, vault: w.vault }), /dead/)
  const [{ count } = { count: 0 }] = await w.db.sql<{ count: number }[]>`
    select count(*)::integer as count
    from lead_search
    where workspace_id = ${w.workspaceId}
      and cardinality(tokens) > 30`
  assert.equal(count, 500)
  assert.deepEqual(await ask(w, 'bo'), ['Bo'])
  while ((await indexLeads(w)) > 0);
  for (const n of ['3', '77', '99']) assert.deepEqual(await ask(w, n), [`Ana|Silva ${n}`])
  assert.deepEqual(await ask(w, 'silva 1202'), ['Ana|Silva 1202'])
})
