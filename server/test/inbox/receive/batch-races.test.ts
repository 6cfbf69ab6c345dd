import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tx } from '../../../src/base/db.ts'
import type { Keyring } from '../../../src/base/encryption/keyring.ts'
import { noKeywords } from '../../../src/inbox/consent/keywords.ts'
import { eraseConversation } from '../../../src/inbox/erase.ts'
import { applyAlone } from '../../../src/inbox/receive/apply-batch.ts'
import { noService } from '../../../src/workspaces/service/service-settings.ts'
import { skipIfDistributed } from '../../support/database.ts'
import { receiveBatch } from '../../support/inbox/delivery-batch.ts'
import { holdConversations, waitForLockWaiter } from '../../support/inbox/gate.ts'
import { addAgent, customerMessage, type InboxWorld, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'

const byPhone = (n: number) => ({ ...marina, phone: `55119888${70_000 + n}` })

/** Runs a change on the workspace's conversations while the deliveries wait for their locks. */
async function whileWaiting(
  w: InboxWorld,
  lists: Parameters<typeof receiveBatch>[1],
  change: (tx: Tx, keyring: Keyring) => Promise<unknown>,
): Promise<boolean[]> {
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const release = await holdConversations(w)
  const told = receiveBatch(w, lists)
  await waitForLockWaiter(w)
  await release((tx) => change(tx, keyring))
  return told
}

test(
  'messages of a conversation merged between read and lock are stored in the merged one',
  skipIfDistributed('who waits for whom is seen by the locks of one server'),
  async () => {
    const w = await inboxWorld()
    const hidden = { userId: 'BR.1', parentUserId: null, phone: null, name: null }
    const { id } = await w.customerWrites('by phone')
    await w.deliver(customerMessage({ at: w.clock.now(), customer: hidden, text: 'by id' }))
    const messageId = await w.pendingSend(id)
    const both = { ...hidden, phone: marina.phone }
    const receiver = { workspaceId: w.workspaceId, id: w.connectionId, channel: 'waba' } as const
    const merge = (tx: Tx, keyring: Keyring) =>
      applyAlone(
        {
          tx,
          keyring,
          workspaceId: w.workspaceId,
          receiver,
          now: w.clock.now(),
          keywords: noKeywords,
          service: noService,
        },
        [customerMessage({ at: w.clock.now(), customer: both, text: 'both' })],
      )
    const lists = [
      [customerMessage({ at: w.clock.now(), customer: hidden, text: 'by id again' })],
      [customerMessage({ at: w.clock.now(), text: 'by phone again' })],
      [customerMessage({ at: w.clock.now(), customer: byPhone(1), text: 'another' })],
      [w.status('wamid.s', 'read', { correlator: `${messageId}:1` })],
    ]
    assert.ok((await whileWaiting(w, lists, merge)).every(Boolean))
    const [one, ...others] = await w.conversations({ phone: marina.phone ?? '' })
    assert.deepEqual([one.unread_count, others.length, (await w.conversations()).length], [5, 0, 2])
    const said = ['Good morning', 'both', 'by id', 'by id again', 'by phone', 'by phone again']
    assert.deepEqual((await w.texts(one.id)).sort(), said)
    assert.equal((await w.messages(one.id)).find((message) => message.id === messageId).status, 'read')
  },
)

test(
  'messages during an erasure start a new conversation, and earlier ones are erased',
  skipIfDistributed('who waits for whom is seen by the locks of one server'),
  async () => {
    const w = await inboxWorld()
    const { id } = await w.customerWrites('before')
    const lists = [
      [customerMessage({ at: w.clock.now(), text: 'after' })],
      [customerMessage({ at: w.clock.now(), customer: byPhone(1), text: 'another' })],
    ]
    const taken = await whileWaiting(w, lists, (tx) => eraseConversation(tx, w.workspaceId, id))
    assert.deepEqual(taken, [true, true])
    const [begun] = await w.conversations({ phone: marina.phone ?? '' })
    assert.notEqual(begun.id, id)
    assert.deepEqual([await w.texts(begun.id), begun.unread_count], [['after'], 1])
  },
)

const ends: [what: string, end: (w: InboxWorld, keyId: string) => Promise<unknown>][] = [
  [
    'the stop switch is turned on',
    async (w) => (await signedInMember(w, 'admin')).call('PATCH', '', { agentsStopped: true }),
  ],
  ['its key is revoked', async (w, keyId) => (await signedInMember(w, 'admin')).call('DELETE', `/keys/${keyId}`)],
]

for (const [what, end] of ends) {
  test(`no conversation is left with an agent when ${what} while new customers write`, async () => {
    const w = await inboxWorld()
    const { id: keyId } = await addAgent(w)
    const write = (_: unknown, n: number) => [customerMessage({ at: w.clock.now(), customer: byPhone(n) })]
    const [taken] = await Promise.all([receiveBatch(w, Array.from({ length: 12 }, write)), end(w, keyId)])
    assert.ok(taken.every(Boolean))
    const all = await w.conversations()
    assert.deepEqual([all.length, ...new Set(all.map((one) => one.owner))], [12, 'human'])
  })
}
