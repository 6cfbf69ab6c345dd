import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  dumpDatabase,
  type ErasureWorld,
  erasureWorld,
  findTraces,
  type Person,
  type Traces,
} from '../support/erasure-world.ts'

const marina: Person = {
  word: 'zyxmarina',
  phone: '5581991234567',
  variant: '558191234567',
  email: 'Zyx.Marina@Example.com',
  userId: '99887766554433@lid',
}
const bruno: Person = {
  word: 'qwvbruno',
  phone: '5511987650001',
  variant: '551187650001',
  email: 'qwv.bruno@example.com',
  userId: '11223344556677@lid',
}

const idsOf = ({ leadIds, conversationIds, messageIds }: Traces) => [...leadIds, ...conversationIds, ...messageIds]

async function ofBruno(w: ErasureWorld): Promise<string[]> {
  const lines = await dumpDatabase(w)
  return lines.flatMap(({ table, text }) => (text.toLowerCase().includes(bruno.word) ? `${table} ${text}` : [])).sort()
}

test('erasing a customer leaves no row, text or digest, and does not affect others', async () => {
  const w = await erasureWorld()
  const marinas = await w.seed(marina)
  const brunos = await w.seed(bruno)
  // What is not hers, to the letter; a browser's reading of the other's lead must not be needed for that.
  const before = await ofBruno(w)
  assert.ok((await findTraces(w, marina, idsOf(marinas))).length > 30)

  const { status, body } = await w.erase({ phone: marina.variant })
  assert.equal(status, 201, JSON.stringify(body))
  assert.equal(body.erasure.state, 'done')
  assert.deepEqual(await findTraces(w, marina, marinas.messageIds.concat(marinas.conversationIds)), [])
  // Each lead has one more event, with its id only.
  const left = await findTraces(w, marina, marinas.leadIds)
  assert.deepEqual(left, marinas.leadIds.map((id) => `events: ${id}`).sort())
  const { removed } = body.erasure
  assert.deepEqual(
    [
      removed.leads,
      removed.conversations,
      removed.notes,
      removed.sends,
      removed.submissions,
      removed.savedFilters,
      removed.files,
    ],
    [5, 2, 2, 1, 1, 1, 1],
  )
  assert.deepEqual([removed.sessionRows, removed.importFiles, removed.messages], [6, 1, marinas.messageIds.length])
  assert.ok(removed.events > 5 && removed.deliveries > 5 && removed.activities > 0 && removed.statusChanges > 0)

  assert.deepEqual(await ofBruno(w), before)
  assert.ok((await findTraces(w, bruno, idsOf(brunos))).length > 30)
})

test('the plaintext cache contains nothing of an erased customer', async () => {
  const w = await erasureWorld()
  const { conversationIds } = await w.seed(marina)
  const keyring = await w.keyStore.keyring(w.workspaceId)
  let reads = 0
  const columns = {
    ...{ table: 'conversations', columns: ['contact'] },
    read: () => {
      reads++
      return null
    },
  }
  const contacts = await w.db.sql<{ id: string; sealed: string }[]>`
    select id, encode(contact, 'base64') as sealed
    from conversations
    where id = any (${conversationIds}::uuid[])`
  const recallAll = () => contacts.map(({ id, sealed }) => keyring.decryptCached(columns, id, sealed))
  recallAll()
  recallAll()
  assert.equal(reads, 2)
  assert.equal((await w.erase({ phone: marina.variant })).status, 201)
  recallAll()
  assert.equal(reads, 4)
})
