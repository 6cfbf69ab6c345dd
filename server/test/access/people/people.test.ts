import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedInMember } from '../../support/member.ts'
import { world } from '../../support/world.ts'

test('any member reads the names of all members, keys and tokens, and no more of them', async () => {
  const w = await world()
  const owner = await signedInMember(w, 'owner')
  w.clock.advance(1000)
  const member = await signedInMember(w)
  const { body: made } = await owner.call('POST', '/tokens', { name: 'Nightly export', role: 'member' })
  const { status, body } = await member.call('GET', '/people')
  assert.equal(status, 200)
  assert.deepEqual(body, {
    members: [
      { id: owner.userId, name: 'Ana Lima', role: 'owner' },
      { id: member.userId, name: 'Ana Lima', role: 'member' },
    ],
    keys: [{ id: w.keyId, name: 'Test key', status: 'active' }],
    tokens: [{ id: made.token.id, name: 'Nightly export', status: 'active' }],
  })
})

test('keys and tokens that work no more keep their names; a member who left has gone', async () => {
  const w = await world()
  const owner = await signedInMember(w, 'owner')
  const leaver = await signedInMember(w)
  const expired = await w.addKey({ name: 'Last week', expiresAt: new Date(w.clock.now().getTime() + 1000) })
  const { body: made } = await owner.call('POST', '/tokens', { name: 'Old export', role: 'member' })
  await owner.call('DELETE', `/tokens/${made.token.id}`)
  await owner.call('DELETE', `/keys/${w.keyId}`)
  await leaver.call('DELETE', `/members/${leaver.userId}`)
  w.clock.advance(1000)
  const { body } = await owner.call('GET', '/people')
  assert.deepEqual(body.members, [{ id: owner.userId, name: 'Ana Lima', role: 'owner' }])
  assert.deepEqual(body.keys, [
    { id: w.keyId, name: 'Test key', status: 'revoked' },
    { id: expired.id, name: 'Last week', status: 'expired' },
  ])
  assert.deepEqual(body.tokens, [{ id: made.token.id, name: 'Old export', status: 'revoked' }])
  assert.equal((await leaver.call('GET', '/people')).status, 404)
})
