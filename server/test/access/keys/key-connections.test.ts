import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { inboxWorld } from '../../support/inbox/inbox-world.ts'
import { testTeamToken } from '../../support/world.ts'

test('a key is limited to connections of its workspace alone, and told which of them is none', async () => {
  const [w, other] = [await inboxWorld(), await inboxWorld()]
  const path = `/api/team/v1/workspaces/${w.workspaceId}`
  const make = async (connectionIds: string[]) => {
    const body = { name: 'Agent', scopes: ['inbox.read'], connectionIds }
    const answer = await w.call('POST', `${path}/keys`, { key: testTeamToken, body })
    return [answer.status, answer.body.data?.issues.map((one: { path: string }) => one.path)]
  }
  assert.deepEqual(await make([w.connectionId.toUpperCase()]), [201, undefined])
  assert.deepEqual(await make([w.connectionId, other.connectionId]), [400, ['connectionIds[1]']])
  assert.deepEqual(await make([newId(w.clock.now()), w.connectionId]), [400, ['connectionIds[0]']])
  await w.call('DELETE', `${path}/connections/${w.connectionId}`, { key: testTeamToken })
  assert.deepEqual(await make([w.connectionId]), [400, ['connectionIds[0]']])
  const { body } = await w.call('GET', `${path}/keys`, { key: testTeamToken })
  assert.equal(body.keys.filter((key: { name: string }) => key.name === 'Agent').length, 1)
})
