import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imageWorld } from '../../support/leads/memory-index-world.ts'
import { signedInMember } from '../../support/member.ts'

test('the memory index finds a merged lead by the phones and e-mails of both, and a masked key by none of them', async () => {
  const w = await imageWorld()
  const [node] = w.nodes
  assert.ok(node)
  const member = await signedInMember(w)
  const one = await w.lead({ firstName: 'Marina', phone: '5581991234567', email: 'marina@example.com' })
  const two = await w.lead({ firstName: 'Marina', phone: '5511987650001', email: 'm.duarte@work.example' })
  await node.images.warm(w.workspaceId)
  const found = async (search: string) => (await node.list({ search })).body.data.map(({ id }: { id: string }) => id)
  const answer = await member.call('POST', `/leads/${one.id}/merge`, { otherId: two.id })
  assert.equal(answer.status, 200)
  const terms = ['98765', '+55 11 98765-0001', '91234567', 'duarte@work', 'marina@example']
  for (const term of terms) assert.deepEqual(await found(term), [one.id], term)
  assert.deepEqual(node.counts, { image: terms.length, database: 0 })
  const masked = await w.addKey({ scopes: ['leads.read'], phoneVisibility: 'masked' })
  const search = async (term: string) =>
    (await w.call('GET', '/api/v1/leads', { key: masked.value, query: { search: term } })).body.data.length
  assert.deepEqual([await search('98765'), await search('duarte@work'), await search('marina@example')], [0, 0, 1])
  await member.call('POST', `/lead-merges/${answer.body.merge.id}/undo`)
  for (const term of ['98765', 'duarte@work']) assert.deepEqual(await found(term), [two.id], term)
})
