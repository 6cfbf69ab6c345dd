import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leadsPath } from '../../support/leads/leads.ts'
import { memberAt, memoryIndexWorld } from '../../support/leads/memory-index-world.ts'
import { signedInMember } from '../../support/member.ts'
import { makeTokens } from '../../support/tokens.ts'

interface Shown {
  id: string
}

test('search finds a merged lead by the phones and e-mails of both, a masked key by none it got; after an undo each by its own', async () => {
  const w = await memoryIndexWorld()
  const [node] = w.nodes
  assert.ok(node)
  const member = await signedInMember(w)
  const one = await w.lead({ firstName: 'Marina', phone: '5581991234567', email: 'marina@example.com' })
  const two = await w.lead({ firstName: 'Marina', phone: '5511987650001', email: 'm.duarte@work.example' })
  await makeTokens(w)
  for (const what of ['text', 'values'] as const) assert.equal(await node.indexes.warm(w.workspaceId, what), true)
  const byKey = async (search: string) => (await w.call('GET', leadsPath, { query: { search } })).body.data
  const byName = (reader: typeof member) => async (search: string) =>
    (await reader.call('GET', `/leads?${new URLSearchParams({ sortBy: 'name', search })}`)).body.leads
  const ways: Record<string, (search: string) => Promise<Shown[]>> = {
    'the feed': byKey,
    tokens: byKey,
    opening: byName(member),
    'memory, by name': byName(memberAt(node, w, member)),
    memory: async (search) => (await node.list({ search })).body.data,
  }
  const answer = await member.call('POST', `/leads/${one.id}/merge`, { otherId: two.id })
  assert.equal(answer.status, 200)
  const terms = ['98765', '+55 11 98765-0001', '91234567', 'duarte@work', 'marina@example']
  for (const [way, find] of Object.entries(ways)) {
    if (way === 'tokens') await makeTokens(w)
    for (const term of terms) {
      const found = (await find(term)).map(({ id }) => id)
      assert.deepEqual(found, [one.id], `${term} by ${way}`)
    }
  }
  assert.deepEqual(node.counts, { image: 2 * terms.length, database: 0 })
  const masked = await w.addKey({ scopes: ['leads.read'], phoneVisibility: 'masked' })
  for (const [search, count] of Object.entries({ 98765: 0, 'duarte@work': 0, 'marina@example': 1 })) {
    const { body } = await w.call('GET', leadsPath, { key: masked.value, query: { search } })
    assert.equal(body.data.length, count, search)
  }
  await member.call('POST', `/lead-merges/${answer.body.merge.id}/undo`)
  for (const term of ['98765', 'duarte@work']) {
    const found = (await ways.memory?.(term))?.map(({ id }) => id)
    assert.deepEqual(found, [two.id], term)
  }
})
