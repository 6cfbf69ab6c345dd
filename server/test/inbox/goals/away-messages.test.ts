import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendDeps } from '../../../src/app/inbox.ts'
import { awayTextFor, createAwayMessages } from '../../../src/inbox/goals/away-messages.ts'
import { addAgent, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'

const minuteMs = 60_000
const closed = { from: '08:00', to: '09:00' }
const weekOf = (...spans: { from: string; to: string }[]) => ({
  ...{
    monday: spans,
    tuesday: spans,
    wednesday: spans,
    thursday: spans,
    friday: spans,
    saturday: spans,
    sunday: spans,
  },
})
const text = 'We are closed now.'

/** A workspace that is closed at the time of the tests. */
async function awayWorld(awayMessage: object | null = { texts: { en: text }, withAgents: false }) {
  const w = await inboxWorld()
  const admin = await signedInMember(w, 'admin')
  const set = async (changes: object) => assert.equal((await admin.call('PATCH', '', changes)).status, 200)
  await set({ hours: { timeZone: 'UTC', week: weekOf(closed) }, awayMessage })
  /** Runs the job as one of several nodes would. */
  const run = async (): Promise<number> => {
    const job = createAwayMessages(sendDeps(w))
    return (await job.isDue()) ? job.work() : 0
  }
  const sent = async (id: string): Promise<string[]> =>
    (await w.messages(id)).flatMap((one) => (one.direction === 'outbound' ? one.text : []))
  return { w, admin, set, run, sent }
}

test('a customer who writes outside of business hours gets the away message once a day', async () => {
  const { w, run, sent } = await awayWorld()
  const { id } = await w.customerWrites('Hello?')
  assert.equal(await run(), 1)
  w.clock.advance(minuteMs)
  await w.customerWrites('Anybody?')
  assert.equal(await run(), 0)
  assert.deepEqual(await sent(id), [text])
  w.clock.advance(23 * 60 * minuteMs)
  await w.customerWrites('Still there?')
  assert.equal(await run(), 1)
  assert.deepEqual(await sent(id), [text, text])
})

test('several nodes at once send it once', async () => {
  const { w, run, sent } = await awayWorld()
  const { id } = await w.customerWrites('Hello?')
  await Promise.all(Array.from({ length: 4 }, run))
  assert.deepEqual(await sent(id), [text])
})

test('a process that dies at any step of sending never sends it twice', async () => {
  for (const step of ['lock', 'write', 'reserve', 'call', 'record', 'settle'] as const) {
    const { w, run } = await awayWorld()
    const { id } = await w.customerWrites('Hello?')
    const told = () => w.platform.sends.filter(({ connectionId }) => connectionId === w.connectionId).length
    const deps = sendDeps(w)
    const dying = createAwayMessages({
      ...deps,
      step: (name, work) => {
        if (name === step) throw new Error('The process died')
        return deps.step(name, work)
      },
    })
    await dying.isDue()
    await dying.work().catch(() => undefined)
    await run()
    await run()
    const isCallLost = ['reserve', 'call', 'record', 'settle'].includes(step)
    assert.ok(told() <= 1, `${step}: ${told()}`)
    if (!isCallLost) assert.equal(told(), 1, step)
    assert.ok(id)
  }
})

test('it comes from the service, and the customer still waits', async () => {
  const { w, admin, run } = await awayWorld()
  const { id } = await w.customerWrites('Hello?')
  const before = (await admin.call('GET', `/inbox/conversations/${id}`)).body.conversation
  await run()
  const { conversation } = (await admin.call('GET', `/inbox/conversations/${id}`)).body
  for (const field of ['unansweredSince', 'unreadCount', 'owner', 'assignedTo', 'held', 'status', 'lastMessage']) {
    assert.deepEqual(conversation[field], before[field], field)
  }
  const [, message] = (await w.messages(id)) as { actor: object; status: string }[]
  assert.deepEqual([message?.actor, message?.status], [{ type: 'system', id: null }, 'sent'])
  const events = await w.events(id)
  const sent = events.find(({ name }) => name === 'inbox.message.sent')
  assert.deepEqual(sent?.payload.actor, { type: 'system', id: null })
})

test('nobody gets it while open, on an answered or old message, after an echo, or without a message', async () => {
  const { w, set, run, sent, admin } = await awayWorld()
  const { id } = await w.customerWrites('Hello?')
  await set({ hours: { timeZone: 'UTC', week: weekOf({ from: '00:00', to: '24:00' }) } })
  assert.equal(await run(), 0, 'open')
  await set({ hours: null })
  assert.equal(await run(), 0, 'always open')
  await set({ hours: { timeZone: 'UTC', week: weekOf(closed) }, awayMessage: null })
  assert.equal(await run(), 0, 'no away message')
  await set({ awayMessage: { texts: { en: text }, withAgents: false } })
  w.clock.advance(31 * minuteMs)
  assert.equal(await run(), 0, 'too late')
  await w.customerWrites('Hello again?')
  await admin.call(
    'POST',
    `/inbox/conversations/${id}/messages`,
    { kind: 'text', text: 'Here' },
    { 'idempotency-key': 'a' },
  )
  assert.equal(await run(), 0, 'answered')
  const customer = { userId: null, parentUserId: null, phone: '5511980000001', name: null }
  const echo = {
    type: 'echo',
    externalId: 'wamid.echo',
    customer,
    kind: 'text',
    text: 'Hi',
    at: w.clock.now(),
  } as const
  const history = { ...echo, type: 'history', externalId: 'wamid.old', direction: 'inbound', status: 'read' } as const
  await w.deliver(echo as never, history as never)
  assert.equal(await run(), 0, 'neither wrote now')
  assert.deepEqual(await sent(id), ['Here'])
})

test('a holiday counts as closed, for the team of the conversation', async () => {
  const { w, admin, set, run, sent } = await awayWorld()
  const today = w.clock.now().toISOString().slice(0, 10)
  await set({
    hours: { timeZone: 'UTC', week: weekOf({ from: '00:00', to: '24:00' }) },
    holidays: [{ name: 'Feast', from: today, to: today, calendar: null }],
  })
  const { id } = await w.customerWrites('Hello?')
  const { body } = await admin.call('POST', '/teams', { name: 'Night' })
  const teamId = body.team.id
  await admin.call('PUT', `/teams/${teamId}/service`, {
    ...{ hours: null, holidays: [], serviceGoals: null },
    awayMessage: { texts: { en: 'The night team is away.' }, withAgents: false },
  })
  await admin.call('PATCH', `/inbox/conversations/${id}`, { teamId })
  assert.equal(await run(), 0, 'the team works')
  await admin.call('PUT', `/teams/${teamId}/service`, {
    ...{ hours: null, holidays: null, serviceGoals: null },
    awayMessage: { texts: { en: 'The night team is away.' }, withAgents: false },
  })
  assert.equal(await run(), 1)
  assert.deepEqual(await sent(id), ['The night team is away.'])
})

test('conversations of agents get it only if the workspace says so', async () => {
  const { w, set, run, sent } = await awayWorld()
  await addAgent(w)
  const { id, owner } = await w.customerWrites('Hello?')
  assert.match(owner, /^agent:/)
  assert.equal(await run(), 0)
  await set({ awayMessage: { texts: { en: text }, withAgents: true } })
  assert.equal(await run(), 1)
  assert.deepEqual(await sent(id), [text])
  assert.equal((await w.conversations())[0].owner, owner)
})

const texts = { en: 'Closed', es: 'Cerrado', pt: 'Fechado' }
const languages: [country: string | null, own: string | null, of: object, expected: string][] = [
  ['BR', null, texts, 'Fechado'],
  ['MX', 'BR', texts, 'Cerrado'],
  ['DE', 'BR', texts, 'Closed'],
  [null, 'PT', texts, 'Fechado'],
  [null, null, texts, 'Closed'],
  ['DE', 'BR', { pt: 'Fechado' }, 'Fechado'],
  ['BR', 'MX', { en: 'Closed', es: 'Cerrado' }, 'Cerrado'],
  ['BR', null, { es: 'Cerrado' }, 'Cerrado'],
]

for (const [country, own, of, expected] of languages) {
  test(`the text for a customer from ${country} of ${Object.keys(of)} in ${own} is ${expected}`, () => {
    assert.equal(awayTextFor({ texts: of, withAgents: false }, country, own), expected)
  })
}
