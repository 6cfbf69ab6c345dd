import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { installedClient } from '../support/client/built-client.ts'
import { type ClientWorld, clientWorld } from '../support/client/client-world.ts'
import { signedInMember } from '../support/member.ts'
import { until } from '../support/until.ts'

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
