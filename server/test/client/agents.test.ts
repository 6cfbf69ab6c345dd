import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WhoAmI } from '../../../client/src/agent-calls.ts'
import { HeldByPeopleError, KeyRejectedError, NotFoundError } from '../../../client/src/errors.ts'
import type { Work } from '../../../client/src/work.ts'
import { clientWorld, network, refusal } from '../support/client/client-world.ts'
import { signedInMember } from '../support/member.ts'
import { waitForNotifications } from '../support/wait-for-notifications.ts'

const first = async (working: AsyncIterator<Work>): Promise<Work> => {
  const { value } = await working.next()
  assert.ok(value !== undefined)
  return value
}

test('work goes to the agent that owns the conversation, with its context', async () => {
  const { parley, customerWrites, clock, platform } = await clientWorld()
  await customerWrites('Do you ship to Recife?')
  clock.advance(1000)
  const { id } = await customerWrites('And when?')
  const working = parley.agents.work()
  const work = await first(working)
  assert.deepEqual([work.id, work.why, work.customerText], [id, 'customer_wrote', 'Do you ship to Recife?\nAnd when?'])
  const sent = platform.sends.length
  assert.equal((await work.answer('We do, tomorrow.')).was_new, true)
  assert.equal((await work.answer('We do, tomorrow.')).was_new, false)
  assert.equal(platform.sends.length, sent + 1)
  await work.addNote('In a hurry.')

  const next = first(working)
  clock.advance(1000)
  await customerWrites('Thanks!')
  const { customerText, notes } = await next
  assert.deepEqual([customerText, notes.map(({ text }) => text)], ['Thanks!', ['In a hurry.']])
  await working.return()
})

test('a program gets the instructions before the first work, and again after a publication', async () => {
  const w = await clientWorld()
  const admin = await signedInMember(w, 'admin')
  const told: (string | null)[] = []
  const onInstructions = ({ workspace }: WhoAmI['instructions']) => told.push(workspace?.text ?? null)
  await w.customerWrites('Hello')
  const working = w.parley.agents.work({ onInstructions })
  await first(working)
  assert.deepEqual(told, [null])
  await admin.call('PATCH', '', { agentWord: 'Be brief.' })
  await waitForNotifications(w.db)
  w.clock.advance(1000)
  await w.customerWrites('Are you there?')
  await first(working)
  assert.deepEqual(told, [null, 'Be brief.'])
  await working.return()
})

test('an answer with a lost response is sent once, even if the customer writes before the retry', async () => {
  const { open, customerWrites, clock, platform } = await clientWorld()
  await customerWrites('Hello?')
  const { fetch, asked } = network('reaches', 'answerIsLost', refusal(503), 'reaches')
  const pause = async () => {
    clock.advance(1000)
    await customerWrites('Anybody?')
  }
  const working = open({ fetch, pause }).parley.agents.work()
  const work = await first(working)
  const sent = platform.sends.length
  assert.equal((await work.answer('Here I am.')).was_new, false)
  assert.equal(platform.sends.length, sent + 1)
  assert.equal(new Set(asked.slice(1).map(({ body }) => body)).size, 1)
  await working.return()
})

test('the work loop survives outages, starts with pending work, and ends with its signal', async () => {
  const { open, customerWrites } = await clientWorld()
  const { id } = await customerWrites('Hello?')
  const { fetch } = network('isLost', refusal(503), 'answerIsLost', refusal(429), 'reaches')
  const stopping = new AbortController()
  const { parley, pauses } = open({ fetch })
  const working = parley.agents.work({ signal: stopping.signal })
  assert.equal((await first(working)).id, id)
  assert.equal(pauses.length, 4)
  const why = new Error('enough')
  const waiting = assert.rejects(working.next(), why)
  stopping.abort(why)
  await waiting
})

test('a conversation that a person takes over is left alone with a specific error', async () => {
  const w = await clientWorld()
  const { id } = await w.customerWrites('I want a person')
  const working = w.parley.agents.work()
  const work = await first(working)
  const member = await signedInMember(w)
  await member.call('POST', `/inbox/conversations/${id}/take-over`)
  await assert.rejects(work.answer('Too late'), (error) => {
    assert.ok(error instanceof HeldByPeopleError)
    return error.next.length > 0
  })
  await assert.rejects(w.parley.agents.takeOffered({ conversation_id: id }), HeldByPeopleError)
  await assert.rejects(w.parley.agents.getLead({ identifier: 'nobody' }), NotFoundError)
  await assert.rejects(w.open({ apiKey: 'plk_nobody' }).parley.agents.work().next(), KeyRejectedError)
  await working.return()
})
