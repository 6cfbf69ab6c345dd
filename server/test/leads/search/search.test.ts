import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { leadPath, leadsPath } from '../../support/leads/leads.ts'
import { makeTokens } from '../../support/tokens.ts'
import { type World, world } from '../../support/world.ts'

type Query = Record<string, string>

/** Asks before there are tokens of what was written last, and after. */
async function find(w: World, search: string): Promise<string[]> {
  const before = await ask(w, search)
  await makeTokens(w)
  assert.deepEqual(await ask(w, search), before, 'with tokens')
  return before
}

async function ask({ call }: World, search: string): Promise<string[]> {
  const { status, body } = await call('GET', leadsPath, { query: { limit: '100', search } })
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.pagination.total, body.data.length)
  return body.data.map((lead: { id: string }) => lead.id)
}

const marina = {
  firstName: 'Marina Íris',
  lastName: 'D’Ávila Søren',
  email: 'Mari.Na+x@Exemplo.com.br',
  phone: '5581991234567',
  uniqueCode: 'Lx-204',
  externalRef: 'CRM/9/ção',
}

const finds: [what: string, terms: string[]][] = [
  ['first name', ['Marina Íris', 'marina', 'MARINA', 'mar', 'rin', 'Iris', 'íris', 'i\u0301ris']],
  ['last name', ['D’Ávila', 'avila', 'ÁVILA', 'soren', 'SØREN', 'ávila s']],
  ['first and last name together', ['Marina Íris D’Ávila', 'iris d', 's D’', '  marina   iris  ']],
  ['e-mail', ['Mari.Na+x@Exemplo.com.br', 'mari.na', '@exemplo', 'com.br', '+x@', 'NA+X']],
  ['phone', ['5581991234567', '991234567', '819', '567']],
  ['formatted phone', ['+55 81 99123-4567', '(81) 99123-4567', '99123-4567', '+55 (81)', '99.123.45.67']],
  ['uniqueCode', ['Lx-204', 'lx-204', 'x-20', '-204', 'l', 'LX']],
  ['externalRef', ['CRM/9/ção', 'crm/9', '/9/', 'cao', 'ÇÃO', 'c', 'cr']],
]

for (const [what, terms] of finds) {
  test(`search matches the ${what}, by any part of it, whatever its case and accents`, async () => {
    const w = await world()
    const { id } = await w.lead(marina)
    await w.lead({
      firstName: 'Bob',
      lastName: 'Kuhn',
      email: 'kuhn@zzz.de',
      phone: '4930111222',
      uniqueCode: 'Z',
      externalRef: 'Q',
    })
    for (const term of terms) assert.deepEqual(await find(w, term), [id], term)
  })
}

test('search matches nothing else', async () => {
  const w = await world()
  await w.lead({ ...marina, notes: 'secret garden', status: 'won', customFieldValues: { k_city: 'Recife' } })
  const misses = [
    'secret',
    'won',
    'recife',
    'medium',
    'other',
    'irisd',
    'marinairis',
    'íriş!',
    '5581991234568',
    'exemplo.con',
    'zzz',
    'avila marina',
    'sorenmari',
    '567lx',
  ]
  for (const term of misses) assert.deepEqual(await find(w, term), [], term)
})

test('under three characters no part of a word is found, but the beginnings of uniqueCode and externalRef', async () => {
  const w = await world()
  const { id } = await w.lead(marina)
  for (const term of ['l', 'L', 'lx', 'c', 'cr', 'CR']) assert.deepEqual(await find(w, term), [id], term)
  for (const term of ['m', 'ma', 'd', 'x', 'x-', '55', '5', 'rm', '04', 'ír', '@e'])
    assert.deepEqual(await find(w, term), [], term)
})

test('two letters that fold to three, and emoji, are found like any text', async () => {
  const w = await world()
  const { id } = await w.lead({ firstName: 'Weißmann', lastName: '👩‍🚀🚀🙂', uniqueCode: '🙂-1' })
  for (const term of ['weiss', 'WEIẞM', 'ißm', '👩‍🚀🚀🙂', '🙂', '🙂-1'])
    assert.deepEqual(await find(w, term), [id], term)
})

test('the characters %, _ and \\ are letters like any other', async () => {
  const w = await world()
  const percent = await w.lead({ firstName: '100% sure', uniqueCode: 'a_b%c' })
  const slash = await w.lead({ firstName: 'back\\slash', uniqueCode: 'axbyc' })
  assert.deepEqual(await find(w, '00%'), [percent.id])
  assert.deepEqual(await find(w, '% s'), [percent.id])
  assert.deepEqual(await find(w, 'a_b'), [percent.id])
  assert.deepEqual(await find(w, 'a_'), [percent.id])
  assert.deepEqual(await find(w, 'ck\\sl'), [slash.id])
  for (const term of ['%%%', '___', '\\\\\\', '%', '_', '.*', "'", '"']) assert.deepEqual(await find(w, term), [], term)
})

test('a term of nothing but blanks filters nothing', async () => {
  const w = await world()
  const { id } = await w.lead()
  for (const term of ['', ' ', '\t \n', '\u00a0\u200b'])
    assert.deepEqual(await find(w, term), [id], JSON.stringify(term))
})

test('blanks around a term, and around what is stored, do not matter', async () => {
  const w = await world()
  const { id } = await w.lead({ uniqueCode: ' 85 ', lastName: 'last' })
  for (const term of ['8', ' 85', '85 ', '  85', ' last', 'last ', ' marina'])
    assert.deepEqual(await find(w, term), [id], term)
})

test('a term of many digits, or of what a number is written with, is a text like any other', async () => {
  const w = await world()
  const { id } = await w.lead({ lastName: '1e999 Infinity' })
  assert.deepEqual(await find(w, '1e999'), [id])
  assert.deepEqual(await find(w, 'Infinity'), [id])
  assert.deepEqual(await find(w, '9'.repeat(255)), [])
})

test('search is of one workspace', async () => {
  const [w, other] = [await world(), await world()]
  const { id } = await w.lead(marina)
  await other.lead(marina)
  assert.deepEqual(await find(w, 'marina'), [id])
})

test('search follows a change, a deletion and a restoration at once', async () => {
  const w = await world()
  const { id } = await w.lead({ firstName: 'Before', phone: '5581991234567' })
  await w.call('PATCH', leadPath(id), { body: { firstName: 'After', phone: null, externalRef: 'crm-77' } })
  assert.deepEqual(await find(w, 'before'), [])
  assert.deepEqual(await find(w, '99123'), [])
  assert.deepEqual(await find(w, 'after'), [id])
  assert.deepEqual(await find(w, 'crm-7'), [id])
  await w.call('POST', `${leadsPath}/upsert`, {
    body: { match: { by: 'id', value: id }, lead: { email: 'new@mail.co' } },
  })
  assert.deepEqual(await find(w, 'new@mail'), [id])
  await w.call('DELETE', leadPath(id))
  assert.deepEqual(await find(w, 'after'), [])
  await w.call('POST', `${leadPath(id)}/restore`)
  assert.deepEqual(await find(w, 'after'), [id])
})

// --- against an oracle that knows the plain text ---

interface Person {
  firstName: string
  lastName: string | null
  email: string | null
  phone: string | null
  uniqueCode: string
  externalRef: string | null
  status: string
}

interface Known extends Person {
  id: string
  created: number
  updated: number
}

const fold = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/g, ' ').trim()

/** The rule in the words of the documentation, written apart from the product. */
function oracle(lead: Person, term: string): boolean {
  const wanted = fold(term)
  const plain = [lead.uniqueCode, lead.externalRef ?? ''].map(fold)
  if (wanted === '') return true
  if ([...wanted].length < 3 && !/[王伟の]/u.test(wanted.normalize('NFC'))) {
    const name = fold(`${lead.firstName} ${lead.lastName ?? ''}`)
    const words = [...name.split(' '), ...name.split(/[ _%\\.-]+|🙂/u)]
    return plain.some((text) => text.startsWith(wanted)) || words.includes(wanted)
  }
  const digits = wanted.replace(/\D/g, '')
  const isFormatted = /^[\d\s+().-]+$/.test(wanted) && digits.length >= 3
  if (isFormatted && (lead.phone ?? '').includes(digits)) return true
  const personal = [`${lead.firstName} ${lead.lastName ?? ''}`, lead.email ?? '', lead.phone ?? '']
  return [...plain, ...personal.map(fold)].some((text) => text.includes(wanted))
}

// Few letters, so that terms match by chance and trigrams of a term occur apart from each other.
const letters = fc.constantFrom(...'aáàbBcÇç eé-_%\\.王伟の'.split(''), '🙂', ' ')
const word = (minLength: number) => fc.string({ unit: letters, minLength, maxLength: 9 })
const name = word(1).map((text) => `a${text}b`)
const digit = fc.constantFrom('0', '1', '5', '9')
const phoneText = fc.string({ unit: digit, minLength: 8, maxLength: 13 }).map((text) => `5${text}`)
const person = fc.record({
  firstName: name,
  lastName: fc.option(name),
  email: fc.option(
    fc
      .string({ unit: fc.constantFrom('a', 'B', 'ç', '.', '1'), minLength: 1, maxLength: 5 })
      .map((text) => `${text}@ab.ca`),
  ),
  phone: fc.option(phoneText),
  uniqueCode: word(0),
  externalRef: fc.option(word(0)),
  status: fc.constantFrom('new', 'won', 'lost'),
})

const sample = <T>(arbitrary: fc.Arbitrary<T>, count: number, seed: number) =>
  fc.sample(arbitrary, { numRuns: count, seed })

async function fill(w: World, seed: number): Promise<Known[]> {
  const known: Known[] = []
  const people = sample(person, 220, seed).map((one, n) => ({
    ...one,
    uniqueCode: `${one.uniqueCode}${n}`,
    externalRef: one.externalRef === null ? null : `${one.externalRef}${n}`,
  }))
  for (let n = 0; n < people.length; n += 55) {
    const part = people.slice(n, n + 55)
    const items = part.map((lead) => ({ match: { by: 'uniqueCode', value: lead.uniqueCode }, lead }))
    const { body } = await w.call('POST', `${leadsPath}/bulk-upsert`, { body: { items } })
    assert.equal(
      body.created,
      part.length,
      JSON.stringify(body.results.filter((result: { success: boolean }) => !result.success)),
    )
    const now = w.clock.now().getTime()
    for (const [index, one] of part.entries()) {
      known.push({ ...one, id: body.results[index].lead.id, created: now, updated: now })
    }
    w.clock.advance(1)
  }
  return known
}

async function change(w: World, known: Known[], seed: number): Promise<void> {
  const changes = sample(
    fc.record({ firstName: name, lastName: fc.option(name), phone: fc.option(phoneText) }),
    12,
    seed,
  )
  for (const [n, fields] of changes.entries()) {
    const lead = known[(n * 17 + seed) % known.length]
    assert.ok(lead)
    w.clock.advance(1)
    const { body } = await w.call('PATCH', leadPath(lead.id), { body: fields })
    Object.assign(lead, fields)
    if (body.message === 'Lead updated successfully') lead.updated = w.clock.now().getTime()
  }
  const [removed] = known.splice(seed % known.length, 1)
  await w.call('DELETE', leadPath(removed?.id ?? ''))
}

/** Pieces of what is stored, pieces across first and last name, formatted phones, and texts of chance. */
function termsFor(known: Known[], seed: number): string[] {
  const piece = fc.record({
    lead: fc.nat(known.length - 1),
    field: fc.nat(5),
    start: fc.nat(6),
    length: fc.integer({ min: 1, max: 7 }),
  })
  const pieces = sample(piece, 90, seed).map(({ lead: at, field, start, length }) => {
    const lead = known[at]
    const full = `${lead?.firstName} ${lead?.lastName ?? ''}`
    const texts = [full, full.slice(3), lead?.email, lead?.phone, lead?.uniqueCode, lead?.externalRef]
    return [...(texts[field] ?? 'aab')].slice(start, start + length).join('')
  })
  const formatted = sample(
    fc.string({ unit: fc.constantFrom('0', '1', '5', '9', ' ', '-', '(', ')', '+'), minLength: 3, maxLength: 6 }),
    15,
    seed,
  )
  return [...pieces, ...formatted, ...sample(word(1), 25, seed)]
}

test('search finds exactly the leads whose plain text has the term: random leads and terms, filters, both sorts, changes', async () => {
  const w = await world()
  const known = await fill(w, 20_260_310)
  let [tried, hits] = [0, 0]
  // With tokens of none, of all, and of all but what changed last.
  for (const round of [1, 2, 3, 4]) {
    if (round === 2 || round === 4) await makeTokens(w)
    for (const [n, term] of termsFor(known, round).entries()) {
      const status = n % 3 === 0 ? ['won', 'new'] : null
      const sortBy = n % 2 === 0 ? 'createdAt' : 'updatedAt'
      const time = (lead: Known) => (sortBy === 'createdAt' ? lead.created : lead.updated)
      const expected = known
        .filter((lead) => oracle(lead, term) && (status === null || status.includes(lead.status)))
        .sort((a, b) => time(b) - time(a) || (a.id < b.id ? 1 : -1))
        .map((lead) => lead.id)
      const query: Query = { sortBy, search: term, limit: '100', ...(status === null ? {} : { status: status.join() }) }
      const { status: code, body } = await w.call('GET', leadsPath, { query })
      assert.equal(code, 200, JSON.stringify(body))
      const found = body.data.map((lead: { id: string }) => lead.id)
      const at = JSON.stringify({ round, term, query })
      assert.equal(body.pagination.total, expected.length, at)
      assert.deepEqual(found, expected.slice(0, 100), at)
      tried++
      if (expected.length > 0 && expected.length < known.length) hits++
    }
    await change(w, known, round * 31)
  }
  assert.ok(tried >= 300 && hits >= 200, `${tried} terms, ${hits} of them told leads apart`)
})
