import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { findConnection } from '../../src/channels/connection/queries.ts'
import { platformServer } from '../support/channels/platform-server.ts'
import { oldRows, rotate } from '../support/rotation/rotating.ts'
import { testTeamToken, world } from '../support/world.ts'

const platform = await platformServer()
after(() => platform.close())

test('what connections of every channel are reached by opens after the data key was rotated', async () => {
  const w = await world()
  const inputs = [
    { channel: 'waba', numberId: '1', accessToken: 'an-access-token', appSecret: 'an-app-secret' },
    { channel: 'partner', profile: '360dialog', numberId: '2', apiKey: 'a-key-of-its-own', signingSecret: 'a-secret' },
    { channel: 'unofficial' },
  ]
  const path = `/api/team/v1/workspaces/${w.workspaceId}/connections`
  const opened: unknown[] = []
  for (const input of inputs) {
    const body = { name: 'Shop', baseUrl: platform.baseUrl, ...input }
    const made = await w.call('POST', path, { key: testTeamToken, body })
    assert.equal(made.status, 201)
    opened.push(
      await findConnection(w.db.sql, await w.vault.keyring(w.workspaceId), w.workspaceId, made.body.connection.id),
    )
  }
  const ids = opened.map((one) => (one as { id: string }).id)
  await rotate(w, 'data')
  assert.deepEqual(await oldRows(w.db, w.workspaceId, 'data', 2), [])
  const keyring = await w.vault.keyring(w.workspaceId)
  assert.deepEqual(await Promise.all(ids.map((id) => findConnection(w.db.sql, keyring, w.workspaceId, id))), opened)
})
