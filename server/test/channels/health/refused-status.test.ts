import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inboxReceive } from '../../../src/app/inbox.ts'
import type { Channel } from '../../../src/channels/connection/connection.ts'
import { findConnection } from '../../../src/channels/connection/queries.ts'
import { inboxWorld } from '../../support/inbox/inbox-world.ts'

const channels: [Channel, string, string | null][] = [
  ['waba', 'unavailable', 'platform_error_190'],
  ['partner', 'unavailable', 'platform_error_190'],
  // The network of phones numbers its refusals otherwise.
  ['unofficial', 'active', null],
]

for (const [channel, state, reason] of channels) {
  test(`a status that failed with the code of a bad token leaves the connection of ${channel} ${state}`, async () => {
    const w = await inboxWorld()
    const id = await w.addConnection(channel)
    const keyring = await w.vault.keyring(w.workspaceId)
    const find = () => findConnection(w.db.sql, keyring, w.workspaceId, id)
    const connection = await find()
    assert.ok(connection !== undefined)
    await inboxReceive(w)(connection, [w.status('unknown', 'failed', { errorCode: '190' })])
    const after = await find()
    assert.deepEqual([after?.state, after?.stateReason], [state, reason])
  })
}
