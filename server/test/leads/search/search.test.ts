import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchesTerm, parseSearchTerm, type Searchable } from '../../../src/leads/lead/search-lines.ts'
import { leadPath, leadsPath } from '../../support/leads/leads.ts'
import { type MemoryIndexWorld, memoryIndexWorld } from '../../support/leads/memory-index-world.ts'
import { makeTokens } from '../../support/tokens.ts'

// Each case is checked against the rule, the database before and after indexing, and memory. memory-index-exact.test.ts
// compares random terms.

interface Named extends Partial<Searchable> {
  firstName: string
}

const marina: Named = {
  firstName: 'Marina Íris',
  lastName: 'D’Ávila Søren',
  email: 'Mari.Na+x@Exemplo.com.br',
  phone: '5581991234567',
  uniqueCode: 'Lx-204',
  externalRef: 'CRM/9/ção',
}
const bob: Named = { firstName: 'Bob', lastName: 'Kuhn', email: 'kuhn@zyz.de', phone: '4930111222', externalRef: 'Q' }

/** Terms that all find the same leads. */
const each = (terms: readonly string[], names: string[]): [string, string[]][] => terms.map((term) => [term, names])

const nameOf = ({ firstName, lastName }: Named) => [firstName, ...(lastName == null ? [] : [lastName])].join('|')
const [found, percent, slash, weiss] = [nameOf(marina), '100% sure', 'back\\slash', 'Weißmann|👩‍🚀🚀🙂']

const fields: [string, string[]][] = [
  ['Marina Íris', 'marina', 'MARINA', 'mar', 'rin', 'Iris', 'íris', 'i\u0301ris'],
  ['D’Ávila', 'avila', 'ÁVILA', 'soren', 'SØREN', 'ávila s'],
  ['Marina Íris D’Ávila', 'iris d', 's D’', '  marina   iris  '],
  ['Mari.Na+x@Exemplo.com.br', 'mari.na', '@exemplo', 'com.br', '+x@', 'NA+X'],
  ['5581991234567', '991234567', '819', '567'],
  ['+55 81 99123-4567', '(81) 99123-4567', '99123-4567', '+55 (81)', '99.123.45.67'],
  ['Lx-204', 'lx-204', 'x-20', '-204', 'l', 'L', 'LX'],
  ['CRM/9/ção', 'crm/9', '/9/', 'cao', 'ÇÃO', 'c', 'cr', 'CR'],
].flatMap((terms) => each(terms, [found]))
fields.push(
  ...each(['secret', 'won', 'recife', 'medium', 'other', 'irisd', 'marinairis', 'íriş!', '5581991234568'], []),
  ...each(['exemplo.con', 'zzz', 'avila marina', 'sorenmari', '567lx'], []),
  ...each(['m', 'ma', 'd', 'x', 'x-', '55', '5', 'rm', '04', 'ír', '@e'], []),
)

const signs: [string, string[]][] = [
  ...each(['weiss', 'WEIẞM', 'ißm', '👩‍🚀🚀🙂', '🙂', '🙂-1'], [weiss]),
  ...each(['00%', '% s', 'a_b', 'a_'], [percent]),
  ...each(['ck\\sl'], [slash]),
  ...each(['%%%', '___', '\\\\\\', '%', '_', '.*', "'", '"'], []),
  ...each(
    ['8', ' 85', '85 ', '  85', ' last', 'last ', ' around', '1e999', 'Infinity'],
    ['Around|last 1e999 Infinity'],
  ),
  ['9'.repeat(255), []],
]

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
  { firstName: 'Nina', email: 'li@bo.de', phone: '5581991234567', externalRef: 'Crm Li' },
]

const words: [term: string, names: string[]][] = [
  ...each(['Li', 'LI'], ["Boris|O'Brien-Li", 'Li|Wei']),
  ['Li Wei', ['Li|Wei']],
  ...each(['Bo', 'bó'], ['Ana (Bo)|D’Ávila', 'Bo|Óscar Ó']),
  ...each(['Ó', 'o', 'O\u0301'], ['Bo|Óscar Ó']),
  ...each(['J', 'r.', 'da'], ['J. R.|da Silva']),
  ...each(['Эд', 'ян'], ['Эд|Ян']),
  ['🙂', ['🙂|Smile']],
  ['王伟', ['王伟']],
  ...each(['王', '伟'], ['伟|王', '王伟', '王小伟']),
  ...each(['小伟', '王小', '客户', '客'], ['王小伟']),
  ['伟 王', ['伟|王']],
  ...each(['娜娜', '阳娜娜'], ['欧阳娜娜|Nana']),
  ...each(['りえ', 'とう', 'え'], ['りえ|さとう']),
  ...each(['ｹﾝ', '𠮷', '𠮷田'], ['ケン|𠮷田']),
  ...each(['ชา', 'ใจ'], ['สมชาย|ใจดี']),
  ...each(['이', '민호'], ['이민호']),
  ['cr', ['Nina']],
  ...each(['We', 'd', 'Я', '伟王', '李', 'de', '@b', '55', '7', 'ni', 'na', 'n'], []),
]

const groups: [what: string, leads: Named[], finds: [term: string, names: string[]][]][] = [
  [
    'any part of name, e-mail, phone, uniqueCode and externalRef, whatever its case and accents, and nothing else',
    [{ ...marina, notes: 'secret garden', status: 'won', customFieldValues: { k_city: 'Recife' } } as Named, bob],
    fields,
  ],
  [
    'signs and blanks like any letter',
    [
      { firstName: 'Weißmann', lastName: '👩‍🚀🚀🙂', uniqueCode: '🙂-1' },
      { firstName: '100% sure', uniqueCode: 'a_b%c' },
      { firstName: 'back\\slash', uniqueCode: 'axbyc' },
      { firstName: 'Around', uniqueCode: ' 85 ', lastName: 'last 1e999 Infinity' },
    ],
    signs,
  ],
  ['whole words of names by a letter or two, and any part in scripts without blanks', people, words],
]

for (const [what, given, finds] of groups) {
  const leads = given.map((lead, n) => ({ uniqueCode: `~${n}`, ...lead }))

  test(`a search finds ${what}: by the rule, in the database with and without tokens, and in memory`, async () => {
    const w = await memoryIndexWorld()
    const searchables = leads.map((lead) => ({ lastName: null, email: null, phone: null, externalRef: null, ...lead }))
    for (const lead of leads) await w.lead({ ...lead })
    const ways = await waysOf(w)
    for (const [term, names] of finds) {
      const wanted = names.toSorted()
      const ruled = searchables.filter((lead) => matchesTerm(lead, parseSearchTerm(term) ?? assert.fail()))
      assert.deepEqual(ruled.map(nameOf).toSorted(), wanted, `${term} by the rule`)
    }
    for (const [way, ask] of Object.entries(ways)) {
      if (way === 'tokens') await makeTokens(w)
      for (const [term, names] of finds) assert.deepEqual(await ask(term), names.toSorted(), `${term} by ${way}`)
    }
    assert.equal(w.nodes[0]?.counts.database, 0)
  })
}

async function waysOf(w: MemoryIndexWorld): Promise<Record<string, (search: string) => Promise<string[]>>> {
  const [node] = w.nodes
  assert.ok(node)
  assert.equal(await node.indexes.warm(w.workspaceId), true)
  const namesIn = ({ data, pagination }: { data: Named[]; pagination: { total: number } }) => {
    assert.equal(pagination.total, data.length)
    return data.map(nameOf).toSorted()
  }
  const query = (search: string) => ({ limit: '100', search })
  const ask = async (search: string) => namesIn((await w.call('GET', leadsPath, { query: query(search) })).body)
  return { feed: ask, tokens: ask, memory: async (search) => namesIn((await node.list(query(search))).body) }
}

test('a blank term filters nothing, and a search is limited to one workspace', async () => {
  const [w, other] = [await memoryIndexWorld(), await memoryIndexWorld()]
  for (const each of [w, other]) await each.lead({ ...marina })
  assert.equal(await other.nodes[0]?.indexes.warm(other.workspaceId), true)
  for (const ask of Object.values(await waysOf(w))) {
    for (const term of ['', ' ', '\t \n', '\u00a0\u200b', 'marina']) assert.deepEqual(await ask(term), [found])
  }
})

test('search reflects a change, an upsert, a deletion and a restore at once', async () => {
  const w = await memoryIndexWorld()
  const { id } = await w.lead({ firstName: 'Before', lastName: '王伟', phone: '5581991234567' })
  const ways = Object.values(await waysOf(w))
  const check = async (terms: string[], names: string[]) => {
    for (const ask of ways) {
      for (const term of terms) assert.deepEqual(await ask(term), names, term)
      await makeTokens(w)
    }
  }
  await check(['before', '99123', '王'], ['Before|王伟'])
  await w.call('PATCH', leadPath(id), {
    body: { firstName: 'Jo', lastName: '李雷', phone: null, externalRef: 'crm-77' },
  })
  await check(['before', '99123', '王', '王伟'], [])
  await check(['jo', 'crm-7', '李', '李雷'], ['Jo|李雷'])
  const match = { by: 'id', value: id }
  await w.call('POST', `${leadsPath}/upsert`, { body: { match, lead: { email: 'new@mail.co' } } })
  await check(['new@mail'], ['Jo|李雷'])
  await w.call('DELETE', leadPath(id))
  await check(['jo', '李'], [])
  await w.call('POST', `${leadPath(id)}/restore`)
  await check(['jo', '李'], ['Jo|李雷'])
})

test('a masked reader finds no lead by any part of a phone, in any field', () => {
  const phone = '5581991234567'
  const lead = {
    ...marina,
    phone,
    firstName: `+${phone}`,
    lastName: null,
    externalRef: `wa-${phone}`,
    uniqueCode: phone,
  }
  for (let from = 0; from < phone.length; from++) {
    for (let to = from + 3; to <= phone.length; to++) {
      const term = phone.slice(from, to)
      const find = (masked: boolean) => matchesTerm(lead as Searchable, parseSearchTerm(term, masked) ?? assert.fail())
      assert.deepEqual([find(false), find(true)], [true, false], term)
    }
  }
})
