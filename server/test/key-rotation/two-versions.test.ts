import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUser } from '../../src/auth/users/users.ts'
import { type KeyStore, openKeyStore } from '../../src/base/encryption/key-store.ts'
import { createReceive } from '../../src/inbox/receive/receive.ts'
import { runNextStep } from '../../src/key-rotation/rotation.ts'
import { createLeadFromChat } from '../../src/leads/write/create-from-chat.ts'
import { customerMessage, type InboxWorld, inboxWorld, marina } from '../support/inbox/inbox-world.ts'
import { drainRotations, requestRotation, rotationDeps } from '../support/key-rotation/rotate-keys.ts'

const rounds = 15

/** Two nodes in the midst of a rotation of the index key: the second one has noticed that the new version is current. */
async function twoNodes(workspaceId: string | null, w: InboxWorld): Promise<[KeyStore, KeyStore]> {
  const { db, keyStore, clock } = w
  await requestRotation(w, { purpose: 'index', workspaceId })
  clock.advance(29_000)
  const scopeId = workspaceId ?? '00000000-0000-0000-0000-000000000000'
  await keyStore.keyring(scopeId)
  clock.advance(1_000)
  const ahead = openKeyStore(db, { current: Buffer.alloc(32, 7) }, clock)
  while (await runNextStep(rotationDeps(db, ahead, clock)));
  assert.deepEqual(
    [(await keyStore.keyring(scopeId)).indexVersion, (await ahead.keyring(scopeId)).indexVersion],
    [1, 2],
  )
  return [keyStore, ahead]
}

test('two nodes of different versions that receive a new customer concurrently create one conversation', async () => {
  const w = await inboxWorld()
  const vaults = await twoNodes(w.workspaceId, w)
  const receiver = { workspaceId: w.workspaceId, id: w.connectionId, channel: 'waba' } as const
  for (let round = 0; round < rounds; round++) {
    // Known by phone here and by user id there, and by both to a third.
    const [phone, userId] = [`55819${91_000_000 + round}`, `u${round}`]
    const customers = [
      { ...marina, phone },
      { ...marina, phone: phone.slice(0, 4) + phone.slice(5), userId },
      { ...marina, phone, userId },
    ]
    await Promise.all(
      customers.flatMap((customer) =>
        vaults.map((keyStore) => {
          const event = customerMessage({ at: w.clock.now(), customer })
          return createReceive({ ...w.receiveDeps, keyStore })(receiver, [event])
        }),
      ),
    )
  }
  const count = async () =>
    w.db.sql`
      select count(*) as conversations, (select count(*) from messages where workspace_id = ${w.workspaceId}) as messages
      from conversations
      where workspace_id = ${w.workspaceId}`
  assert.deepEqual([...(await count())], [{ conversations: rounds, messages: rounds * 6 }])
  await drainRotations(w)
  assert.deepEqual([...(await count())], [{ conversations: rounds, messages: rounds * 6 }])
})

test('two nodes of different versions create one lead per phone', async () => {
  const w = await inboxWorld()
  const vaults = await twoNodes(w.workspaceId, w)
  await w.db.sql`update workspaces set leads_from_chat = true where id = ${w.workspaceId}`
  for (let round = 0; round < rounds; round++) {
    const customer = { name: 'Marina', phone: `55819${91_000_000 + round}`, adPlatform: null }
    const deps = vaults.map((keyStore) => ({ db: w.db, keyStore, clock: w.clock }))
    await Promise.all([...deps, ...deps].map((each) => createLeadFromChat(each, w.workspaceId, customer)))
  }
  const [row] = await w.db.sql`select count(*) as count from leads where workspace_id = ${w.workspaceId}`
  assert.equal(row?.count, rounds)
  await drainRotations(w)
})

test('two nodes of different versions create one user per e-mail', async () => {
  const w = await inboxWorld()
  const scopeId = '00000000-0000-0000-0000-000000000000'
  const vaults = await twoNodes(null, w)
  for (let round = 0; round < rounds; round++) {
    const person = { name: 'Ana', email: `ana${round}@one.test`, passwordHash: null, isOperator: false }
    const outcomes = await Promise.allSettled(
      vaults.map(async (keyStore) => {
        const keys = await keyStore.keyring(scopeId)
        return w.db.tx((tx) => createUser(tx, keys, person, w.clock.now()))
      }),
    )
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  }
  await drainRotations(w)
})
