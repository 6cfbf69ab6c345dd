import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskNumbersIn } from '../../../src/base/phone/mask.ts'
import { maskContact } from '../../../src/inbox/api/masking.ts'
import { addAgent, conversationPath, customerMessage, inboxPath, inboxWorld } from '../../support/inbox/inbox-world.ts'

const phone = '5581991234567'

const names: [name: string | null, shown: string | null][] = [
  ['Marina Duarte', 'Marina Duarte'],
  [null, null],
  [phone, '55819*****567'],
  ['+55 81 99123-4567', '55819*****567'],
  ['(55) 81 9 9123 4567', '55819*****567'],
  // Otherwise another part of the same number would be visible.
  ['81 99123-4567', '********567'],
  ['Marina 5581991234567', 'Marina *************'],
  ['Marina 91234567', 'Marina ********'],
  ['Marina 4567', 'Marina ****'],
  ['Marina 00567', 'Marina *****'],
  ['5-5_8:1.9.9.1.2.3.4.5.6.7', '*-*_*:*.*.*.*.*.*.*.*.*.*'],
  ['\uff15\uff15\u200b81991234567', '55819*****567'],
  ['٥٥٨١٩٩١٢٣٤٥٦٧', '55819*****567'],
  ['Agent 007', 'Agent 007'],
  ['', ''],
]

for (const [name, shown] of names) {
  test(`the name ${JSON.stringify(name)} is shown as ${JSON.stringify(shown)} to a masked viewer`, () => {
    assert.deepEqual(maskContact({ name, phone }), { name: shown, phone: '55819*****567' })
  })
}

test('a name that is a number is masked even while the phone is hidden', () => {
  assert.deepEqual(maskContact({ name: '+1 650 555 1234', phone: null }), { name: '16505***234', phone: null })
})

test('numbers in platform notices are masked', () => {
  assert.equal(
    maskNumbersIn('User A changed from 5581991234567 to +55 81 98888-7777.'),
    'User A changed from 55819*****567 to 55819*****777.',
  )
})

test('a masked key sees no phone anywhere, and opaque, stable external ids', async () => {
  const w = await inboxWorld()
  const { value: key } = await addAgent(w, { phoneVisibility: 'masked' })
  const externalId = `wamid.${Buffer.from(phone).toString('base64')}`
  const { id } = await w.customerWrites('Hi', {
    externalId,
    customer: { userId: 'BR.1', parentUserId: null, phone, name: `+${phone}` },
  })
  await w.deliver(
    customerMessage({ at: w.clock.now(), kind: 'system', text: `Changed to ${phone}`, opensWindow: false }),
  )
  const answers = [
    await w.call('GET', conversationPath(id), { key }),
    await w.call('GET', `${inboxPath}/conversations`, { key }),
    await w.call('GET', `${conversationPath(id)}/messages`, { key }),
    await w.call('PATCH', conversationPath(id), { key, body: { status: 'pending' } }),
  ]
  for (const { status, body } of answers) {
    assert.equal(status, 200)
    const text = JSON.stringify(body)
    assert.ok(!text.includes(phone) && !text.includes(externalId), text)
  }
  assert.equal(answers[0]?.body.conversation.contact.phone, '55819*****567')
  const shown = answers[2]?.body.messages[0].external_id
  assert.match(shown, /^masked_/)
  const again = await w.call('GET', `${conversationPath(id)}/messages`, { key })
  assert.equal(again.body.messages[0].external_id, shown)
  assert.equal((await w.messages(id))[0].external_id, externalId)
})

test('the event of a platform notice masks its numbers, but not what people write', async () => {
  const w = await inboxWorld()
  const { value: key } = await addAgent(w, { scopes: ['inbox.read'], phoneVisibility: 'masked' })
  for (const kind of ['system', 'text'] as const) await w.customerWrites(`Changed to ${phone}`, { kind })
  const { events } = (await w.call('GET', '/api/v1/events', { key, query: { events: 'inbox.message.received' } })).body
  assert.deepEqual(
    events.map(({ payload }: { payload: { message: { text: string } } }) => payload.message.text),
    ['Changed to 55819*****567', `Changed to ${phone}`],
  )
})

test('texts crafted to be slow to mask cost little', () => {
  const hostile = ['(', ' (', '+', '1 ', '1---', '0', '٥', '*'].flatMap((piece) => {
    const text = piece.repeat(20_000 / piece.length)
    return [text, `${text}12345678x`, `12345678${text}x`]
  })
  const before = process.cpuUsage()
  for (const text of hostile) maskContact({ name: text, phone })
  const { user } = process.cpuUsage(before)
  assert.ok(user < 2_000_000, `${user} µs`)
})
