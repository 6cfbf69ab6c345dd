import assert from 'node:assert/strict'
import { test } from 'node:test'
import { demoTemplates } from '../../src/simulator/demo/demo-templates.ts'
import { addTemplate } from '../../src/simulator/template-routes.ts'
import { readWamid } from '../../src/simulator/wamid.ts'
import { simulatorWorld } from '../support/channels/simulator.ts'

const w = await simulatorWorld()
for (const template of demoTemplates) addTemplate(w.simulator.platform.world, template)
for (const status of ['PAUSED', 'DISABLED'] as const) {
  addTemplate(w.simulator.platform.world, {
    name: status.toLowerCase(),
    language: 'en',
    status,
    category: 'UTILITY',
    parameter_format: 'POSITIONAL',
    components: [{ type: 'BODY', text: 'Hi' }],
  })
}
const zoe = await w.customer()
const to = `+${zoe.phone}`
const template = (name: string, code: string, parameters?: object[]) => ({
  to,
  type: 'template',
  template: { name, language: { code }, ...(parameters ? { components: [{ type: 'body', parameters }] } : {}) },
})
const word = (text: string, parameter_name?: string) => ({
  type: 'text',
  text,
  ...(parameter_name ? { parameter_name } : {}),
})
const both = [word('Ana', 'first_name'), word('A-17', 'order_id')]

const refusals: [string, object, number, number][] = [
  ['no product', { messaging_product: undefined, to, type: 'text', text: { body: 'x' } }, 400, 100],
  ['nobody to send to', { type: 'text', text: { body: 'x' } }, 400, 100],
  ['no text', { to, type: 'text' }, 400, 131008],
  ['no body', { to, type: 'text', text: {} }, 400, 131008],
  ['an empty body', { to, type: 'text', text: { body: '' } }, 400, 100],
  ['4,097 characters', { to, type: 'text', text: { body: 'x'.repeat(4097) } }, 400, 100],
  ['2,049 emoji, which are 4,098 units', { to, type: 'text', text: { body: '😀'.repeat(2049) } }, 400, 100],
  ['a number that is none', { to: '12', type: 'text', text: { body: 'x' } }, 400, 131009],
  ['a user id that nobody has', { recipient: 'US.123', type: 'text', text: { body: 'x' } }, 400, 131009],
  ['its own number', { to: w.simulator.number.phone, type: 'text', text: { body: 'x' } }, 400, 131021],
  ['an unknown type', { to, type: 'telegram' }, 400, 100],
  ['a correlator of 513 characters', { to, text: { body: 'x' }, biz_opaque_callback_data: 'x'.repeat(513) }, 400, 100],
  ['a template without a name', { to, type: 'template', template: { language: { code: 'en' } } }, 400, 131008],
  ['a template without a language', { to, type: 'template', template: { name: 'order_update' } }, 400, 131008],
  ['an unknown template', template('nothing', 'en'), 404, 132001],
  ['a language that it lacks', template('order_update', 'fr', both), 404, 132001],
  ['a template that is not approved yet', template('summer_sale', 'pt_BR', [word('x')]), 404, 132001],
  ['a paused template', template('paused', 'en'), 400, 132015],
  ['a disabled template', template('disabled', 'en'), 400, 132016],
  ['too few values', template('welcome_back', 'pt_BR', [word('Ana')]), 400, 132000],
  ['too many values', template('paused', 'en', [word('Ana')]), 400, 132015],
  ['a value with a line break', template('welcome_back', 'pt_BR', [word('Ana\n'), word('x')]), 400, 132018],
  ['a value with a tab', template('welcome_back', 'pt_BR', [word('Ana\t'), word('x')]), 400, 132018],
  ['a value with five blanks', template('welcome_back', 'pt_BR', [word('A     b'), word('x')]), 400, 132018],
  ['an empty value', template('welcome_back', 'pt_BR', [word(''), word('x')]), 400, 131008],
  ['named values without names', template('order_update', 'en', [word('Ana'), word('x')]), 400, 132012],
  ['a wrong name', template('order_update', 'en', [word('Ana', 'first_name'), word('x', 'no')]), 400, 132012],
  ['a picture that is missing', template('new_catalog', 'es'), 400, 132012],
  ['over 1,024 characters', template('welcome_back', 'pt_BR', [word('x'.repeat(1020)), word('x')]), 400, 132005],
  ['the reading of an unknown message', { status: 'read', message_id: 'wamid.x' }, 400, 131009],
]
for (const [what, body, status, code] of refusals) {
  test(`the simulator refuses ${what} with ${code}`, async () => {
    const answer = await w.send(body)
    assert.deepEqual([answer.status, answer.body.error?.code], [status, code])
    assert.equal(typeof answer.body.error.fbtrace_id, 'string')
  })
}

test('a token that is wrong or expired, and a number that is not there, are told apart', async () => {
  const { numberId } = w.simulator.number
  const body = { messaging_product: 'whatsapp', to, type: 'text', text: { body: 'x' } }
  assert.equal((await w.graph('POST', `${numberId}/messages`, body, 'wrong')).body.error.code, 190)
  const unknown = await w.graph('POST', '999/messages', body)
  assert.deepEqual([unknown.status, unknown.body.error.code, unknown.body.error.error_subcode], [400, 100, 33])
  await w.call('PATCH', `/simulator/numbers/${numberId}`, { tokenState: 'expired' })
  const expired = await w.graph('GET', numberId)
  assert.deepEqual([expired.status, expired.body.error.code, expired.body.error.error_subcode], [401, 190, 463])
  await w.call('PATCH', `/simulator/numbers/${numberId}`, { tokenState: 'valid', registered: false })
  assert.equal((await w.text(to, 'x')).body.error.code, 133010)
  await w.call('PATCH', `/simulator/numbers/${numberId}`, { registered: true })
  assert.equal((await w.graph('GET', numberId)).body.display_phone_number, `+${w.simulator.number.phone}`)
})

test('what travels along comes back with each status', async () => {
  w.received.length = 0
  const { body } = await w.text(zoe.phone, 'Olá ✓', { biz_opaque_callback_data: 'm1:1' })
  assert.deepEqual(Object.keys(body.messages[0]), ['id'])
  assert.deepEqual(readWamid(body.messages[0].id)?.customer, zoe.phone)
  await w.simulator.settled()
  assert.deepEqual(w.statuses(), ['sent', 'delivered'])
  for (const { value } of w.changes()) assert.equal(value.statuses[0].biz_opaque_callback_data, 'm1:1')
})

test('numbers of Brazil and Mexico come back under the key of the platform', async () => {
  const rows = [
    ['+5541988887777', '554188887777'],
    ['+5511912345678', '5511912345678'],
    ['+525512345678', '5215512345678'],
    ['+16505551234', '16505551234'],
  ] as const
  for (const [input, waId] of rows) assert.deepEqual((await w.text(input, 'x')).body.contacts, [{ input, wa_id: waId }])
})

test('outside the window a text is accepted and then fails with 131047, while a template goes out', async () => {
  const late = await w.customer()
  await w.call('POST', '/simulator/clock', { advanceMs: 24 * 3_600_000 })
  assert.equal((await w.text(late.phone, 'too late')).status, 200)
  await w.simulator.settled()
  const [failed] = w.changes().flatMap(({ value }) => value.statuses ?? [])
  assert.deepEqual([failed.status, failed.errors[0].code], ['failed', 131047])
  assert.equal(
    w.changes().every(({ value }) => value.contacts === undefined),
    true,
  )
  w.received.length = 0
  await w.send({ ...template('order_update', 'en', both), to: late.phone })
  await w.simulator.settled()
  assert.deepEqual(w.statuses(), ['sent', 'delivered'])
  await w.call('POST', '/simulator/clock', { follow: true })
})

test('who hides the number is written to by the user id, and nothing shows the number', async () => {
  const hidden = await w.customer({ hidesNumber: true, username: 'zoe' })
  const { body } = await w.send({ recipient: hidden.userId, type: 'text', text: { body: 'x' } })
  assert.deepEqual(body.contacts, [{ input: hidden.userId, user_id: hidden.userId }])
  await w.simulator.settled()
  assert.deepEqual(w.statuses(), ['sent', 'delivered'])
  assert.equal(
    w.received.some(({ raw }) => raw.includes(hidden.phone)),
    false,
  )
})

test('templates are listed in pages, and the last page names no next one', async () => {
  const { accountId } = w.simulator.number
  const seen: string[] = []
  let after: string | undefined
  for (let page = 0; page < 10; page += 1) {
    const query = new URLSearchParams({ limit: '3', ...(after === undefined ? {} : { after }) })
    const { body } = await w.graph('GET', `${accountId}/message_templates?${query}`)
    seen.push(...body.data.map(({ id }: { id: string }) => id))
    if (body.paging.next === undefined) break
    assert.match(body.paging.next, /\/v25\.0\/\d+\/message_templates\?.*after=/)
    after = body.paging.cursors.after
  }
  assert.equal(new Set(seen).size, demoTemplates.length + 2)
  const approved = await w.graph('GET', `${accountId}/message_templates?status=APPROVED&limit=100`)
  assert.equal(approved.body.data.length, 5)
})
