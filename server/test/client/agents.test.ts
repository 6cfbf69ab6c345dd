import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { HeldByPeopleError, KeyRejectedError, NotFoundError } from '../../../client/src/errors.ts'
import type { Work } from '../../../client/src/work.ts'
import { installedClient } from '../support/client/built-client.ts'
import { type ClientWorld, clientWorld, network, refusal } from '../support/client/client-world.ts'
import { signedInMember } from '../support/member.ts'
import { until } from '../support/until.ts'

const first = async (working: AsyncIterator<Work>): Promise<Work> => {
  const { value } = await working.next()
  assert.ok(value !== undefined)
  return value
}

test('work comes to the agent whose conversation it is, with what it takes to answer', async () => {
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

test('an answer that was lost is sent once, also when the customer writes before it is asked for again', async () => {
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

test('waiting outlives a service that is away, begins with who waits already, and ends with its signal', async () => {
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

test('a person who takes over meanwhile is left alone, and the error says so', async () => {
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

/** An example as somebody runs it, until the test ends. */
async function running(t: TestContext, w: ClientWorld, example: string): Promise<void> {
  const folder = await installedClient()
  const env = { PARLEY_URL: w.url, PARLEY_API_KEY: w.agent.value }
  const child = spawn(process.execPath, [join('examples', example)], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const said = text(child.stderr)
  t.after(async () => {
    child.kill('SIGTERM')
    assert.equal(await said, '', `${example} had nothing to complain of`)
  })
}

/** The texts that customers of this world were sent. */
const told = ({ platform, connectionId }: ClientWorld): unknown[] =>
  platform.sends
    .filter((sent) => sent.connectionId === connectionId)
    .map(({ order }) => (order.message.kind === 'text' ? order.message.text : order.message.kind))

test('the echo agent says again what customers say', async (t) => {
  const w = await clientWorld()
  await w.customerWrites('Hello')
  await running(t, w, 'echo-agent.js')
  await until(() => told(w).length === 1, 'the first echo')
  w.clock.advance(1000)
  await w.customerWrites('Bye')
  await until(() => told(w).length === 2, 'the second echo')
  assert.deepEqual(told(w), ['You said: Hello', 'You said: Bye'])
})

test('the triage agent answers what it knows, hands over with a summary, and goes on when it is handed back', async (t) => {
  const w = await clientWorld()
  const member = await signedInMember(w)
  const { id } = await w.customerWrites('Do you ship to Recife?')
  await running(t, w, 'triage-agent.js')
  await until(() => told(w).length === 1, 'the answer')
  w.clock.advance(1000)
  await w.customerWrites('I want my money back')
  const place = `/inbox/conversations/${id}`
  const conversation = async () => (await member.call('GET', place)).body.conversation
  await until(async () => (await conversation()).handover?.urgency === 'high', 'the hand-over')
  assert.equal((await conversation()).handover.reason, 'Refunds need a person.')
  const { items } = (await member.call('GET', `${place}/timeline`)).body
  assert.match(JSON.stringify(items), /Marina Duarte wrote “Do you ship to Recife\?”, “I want my money back”\./)

  w.clock.advance(1000)
  const note = { summary: 'Paid back.', nextStep: 'Your money is on its way.' }
  assert.equal((await member.call('POST', `${place}/hand-back`, { keyId: w.agent.id, note })).status, 200)
  await until(() => told(w).length === 3, 'the next step')
  assert.deepEqual(told(w), [
    'We ship to all of Brazil, in two to five days.',
    'A colleague will help you with this.',
    'Your money is on its way.',
  ])
})

test('the agent over MCP answers, hands over, and goes on with what people say, by tools alone', async (t) => {
  const w = await clientWorld()
  const member = await signedInMember(w)
  const { id } = await w.customerWrites('Do you ship to Recife?')
  await running(t, w, 'mcp-agent.js')
  await until(() => told(w).length === 1, 'the answer')
  w.clock.advance(1000)
  await w.customerWrites('I want my money back')
  const place = `/inbox/conversations/${id}`
  await until(async () => (await member.call('GET', place)).body.conversation.owner === 'human', 'the hand-over')
  w.clock.advance(1000)
  const note = { summary: 'Paid back.', nextStep: 'Your money is on its way.' }
  assert.equal((await member.call('POST', `${place}/hand-back`, { keyId: w.agent.id, note })).status, 200)
  await until(() => told(w).length === 3, 'the next step')
  assert.deepEqual(told(w), [
    'We ship to all of Brazil, in two to five days.',
    'A colleague will help you.',
    'Your money is on its way.',
  ])
})
