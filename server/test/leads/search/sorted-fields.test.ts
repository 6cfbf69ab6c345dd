import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type MemoryIndexWorld, memberAt, memoryIndexWorld } from '../../support/leads/memory-index-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'

const names = async (member: TestMember, query: Record<string, string>): Promise<string> => {
  const { status, body } = await member.call('GET', `/leads?${new URLSearchParams({ limit: '100', ...query })}`)
  assert.equal(status, 200, JSON.stringify(body))
  return pick(body.leads, 'firstName').join(' ')
}

async function inMemory(w: MemoryIndexWorld, member: TestMember): Promise<TestMember> {
  const [node] = w.nodes
  assert.ok(node)
  assert.equal(await node.indexes.warm(w.workspaceId, 'values'), true)
  return memberAt(node, w, member)
}

test('choices sort in their defined order, numbers match regardless of decimals, and k_ fields match without the prefix', async () => {
  const w = await memoryIndexWorld()
  const [admin, member] = [await signedInMember(w, 'admin'), await signedInMember(w)]
  const field = { key: 'size', label: 'Size', type: 'select', choices: ['Small', 'Medium', 'Large'] }
  assert.equal((await admin.call('POST', '/lead-fields', field)).status, 201)
  for (const [firstName, customFieldValues] of [
    ['Ana', { size: 'Large', price: '1.50', zip: '01310' }],
    ['Bia', { size: 'Small', price: '2', k_loja: 'Centro' }],
    ['Caio', { size: 'Huge', price: '10' }],
    ['Davi', { size: 'Medium', loja: 'Praia', k_loja: 'Centro' }],
    ['Eva', {}],
  ] as const) {
    await w.lead({ firstName, customFieldValues })
    w.clock.advance(1)
  }
  for (const reader of [member, await inMemory(w, member)]) {
    const by = (where: string) => names(reader, { where, sortBy: 'name', sortOrder: 'asc' })
    assert.equal(await names(reader, { sortBy: 'field:size', sortOrder: 'asc' }), 'Bia Davi Ana Caio Eva')
    assert.equal(await names(reader, { sortBy: 'field:size', sortOrder: 'desc' }), 'Caio Ana Davi Bia Eva')
    assert.equal(await by('field:price.is.1%2E5'), 'Ana')
    assert.equal(await by('field:price.isNot.2%2E0'), 'Ana Caio Davi Eva')
    assert.equal(await by('field:zip.is.1310'), '')
    assert.equal(await by('field:loja.is.centro'), 'Bia')
    assert.equal(await by('field:loja.empty'), 'Ana Caio Eva')
  }
  assert.equal(w.nodes[0]?.counts.database, 0, 'all of the second came from memory')
})

test('label conditions combine with others, also with match any, and are never answered from memory', async () => {
  const w = await memoryIndexWorld()
  const [admin, member] = [await signedInMember(w, 'admin'), await signedInMember(w)]
  const label = async (name: string): Promise<string> =>
    (await admin.call('POST', '/labels', { name, color: 'teal' })).body.label.id
  const [gold, red] = [await label('Gold'), await label('Red')]
  for (const [firstName, labelIds, email] of [
    ['Ana', [gold], 'ana@example.com'],
    ['Bia', [red, gold], null],
    ['Caio', [red], null],
    ['Davi', [], 'davi@example.com'],
  ] as const) {
    const { id } = await w.lead({ firstName, email })
    assert.equal((await member.call('PUT', `/leads/${id}/labels`, { labelIds })).status, 200)
    w.clock.advance(1)
  }
  for (const [where, expected, match = 'all'] of [
    [`labels.is.${gold}`, 'Ana Bia'],
    [`labels.is.${gold.toUpperCase()}.${red}`, 'Ana Bia Caio'],
    [`labels.isNot.${gold}`, 'Caio Davi'],
    ['labels.empty', 'Davi'],
    ['labels.notEmpty;email.empty', 'Bia Caio'],
    [`labels.is.${gold};labels.is.${red}`, 'Bia'],
    [`labels.is.${gold};name.contains.davi`, 'Ana Bia Davi', 'any'],
    ['labels.empty;email.empty', 'Bia Caio Davi', 'any'],
    [`labels.isNot.${gold};name.contains.ana`, 'Ana Caio Davi', 'any'],
  ] as const) {
    // One order that the database supports, and one of encrypted values.
    for (const sortBy of ['createdAt', 'name']) {
      assert.equal(await names(member, { where, match, sortBy, sortOrder: 'asc' }), expected, `${where} ${sortBy}`)
    }
  }
  assert.equal(await names(member, { where: 'email.empty', labels: gold, sortBy: 'name', sortOrder: 'asc' }), 'Bia')
  const board = await member.call('GET', `/leads/board?${new URLSearchParams({ where: `labels.isNot.${gold}` })}`)
  assert.equal(board.body.columns[0].count, 2)
  const refused = await member.call('GET', '/leads?where=labels.is.gold')
  assert.equal(refused.body.data.issues[0].message, 'condition 1 must have ids of labels as its values')
  assert.equal((await member.call('GET', '/leads?sortBy=labels')).status, 400)

  const other = await inMemory(w, member)
  const ofRed: Record<string, string>[] = [{ where: `labels.is.${red}` }, { labels: red }]
  for (const query of ofRed) {
    assert.equal(await names(other, { sortBy: 'name', sortOrder: 'asc', ...query }), 'Bia Caio')
  }
  assert.equal(await names(other, { withoutLabels: gold, sortBy: 'name', sortOrder: 'asc' }), 'Caio Davi')
  assert.deepEqual(w.nodes[0]?.counts, { image: 0, database: 0 })
})
