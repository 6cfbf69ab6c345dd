import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { testDatabase } from '../../support/database.ts'
import { tellTogether } from '../../support/inbox/deliveries-together.ts'
import { countsOf, messagesWithoutFile } from '../../support/inbox/inbox-picture.ts'
import { type InboxWorld, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { messageOf, type ReceivingTask } from '../../support/inbox/receiving-program.ts'
import { startProgram } from '../../support/program/program.ts'

const program = fileURLToPath(new URL('../../support/inbox/receiving-program.ts', import.meta.url))
const atOnce = 3
const phones = Array.from({ length: 6 }, (_, n) => `5511988870${100 + n}`)

/** A workspace to which half of the customers have written before. */
async function halfKnown(): Promise<{ w: InboxWorld; task: (dieAt: number, isSent: boolean) => ReceivingTask }> {
  const w = await inboxWorld()
  const now = w.clock.now()
  await w.tell(
    ...phones.slice(0, 3).map((phone) => ({ ...messageOf(phone, now), externalId: `wamid.before.${phone}` })),
  )
  const { options: database } = await testDatabase()
  const { workspaceId, connectionId } = w
  const shared = { database, now: now.toISOString(), workspaceId, connectionId, phones }
  return { w, task: (dieAt, isSent) => ({ ...shared, dieAt, isSent }) }
}

async function crash(dieAt: number, isSent: boolean): Promise<void> {
  const { w, task } = await halfKnown()
  const child = startProgram([program, JSON.stringify(task(dieAt, isSent))])
  assert.equal(await child.gone, 'SIGKILL', `statement ${dieAt}`)
  const [messages, unread, events] = await countsOf(w)
  assert.deepEqual([unread, events], [messages, messages], `all of a transaction or nothing, at statement ${dieAt}`)
  assert.equal(await messagesWithoutFile(w), 0, `a picture and what says where it is, at statement ${dieAt}`)
  const lists = phones.map((phone) => [messageOf(phone, w.clock.now())])
  assert.ok((await tellTogether(w, lists)).every(Boolean))
  assert.deepEqual(await countsOf(w), [9, 9, 9], `statement ${dieAt}`)
  assert.equal(await messagesWithoutFile(w), 0, `statement ${dieAt}`)
  assert.equal((await w.conversations()).length, 6)
}

test('a process that dies over any statement of what goes together leaves all of it or nothing, and the repeat the rest', async () => {
  const { task } = await halfKnown()
  const [taken, statements] = (await startProgram([program, JSON.stringify(task(0, false))]).said('taken')).split(' ')
  assert.equal(taken, '6')
  const places = Array.from({ length: Number(statements) }, (_, n) => n + 1)
  assert.ok(places.length > 8)
  const deaths = places.map((dieAt) => ({ dieAt, isSent: dieAt % 2 === 0 }))
  for (let n = 0; n < deaths.length; n += atOnce) {
    await Promise.all(deaths.slice(n, n + atOnce).map(({ dieAt, isSent }) => crash(dieAt, isSent)))
  }
})
