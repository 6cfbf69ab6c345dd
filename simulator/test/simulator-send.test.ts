import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatorWorld } from '../../server/test/support/channels/simulator.ts'
import { addTemplate } from '../src/control-routes.ts'
import { demoTemplates } from '../src/demo/demo-people.ts'
import { addReadyMade, type ReadyMade } from '../src/files/sample-files.ts'
import type { TemplateComponent } from '../src/simulated-template.ts'

const w = await simulatorWorld()
const { platform, number } = w.simulator
const { numberId } = number
for (const template of demoTemplates) addTemplate(platform.world, template)
const own = { language: 'en', status: 'APPROVED', category: 'UTILITY', parameter_format: 'POSITIONAL' } as const
const add = (name: string, status: 'APPROVED' | 'PAUSED' | 'DISABLED', ...header: TemplateComponent[]) =>
  addTemplate(platform.world, { ...own, name, status, components: [...header, { type: 'BODY', text: 'Hi' }] })
for (const status of ['PAUSED', 'DISABLED'] as const) add(status.toLowerCase(), status)
for (const format of ['IMAGE', 'DOCUMENT', 'LOCATION'] as const) {
  add(`with_${format.toLowerCase()}`, 'APPROVED', { type: 'HEADER', format })
}
const zoe = await w.customer()
const to = `+${zoe.phone}`
const made = (name: ReadyMade) => addReadyMade(platform.files, numberId, name).id
const [photo, clip, voice, pdf, sticker] = (['photo', 'clip', 'voice', 'pdf', 'sticker'] as const).map(made)
const others = addReadyMade(platform.files, 'another-number', 'photo').id

/** Sends a message and returns how the phone and the callback show it. */
async function sent(body: object) {
  w.received.length = 0
  const answer = await w.send({ to, ...body })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  await w.simulator.settled()
  return { id: answer.body.messages[0].id, shown: (await w.chat(zoe.id)).at(-1), statuses: w.statuses() }
}
const failure = () => w.changes()[0].value.statuses[0].errors[0].code

const template = (name: string, code: string, parameters?: object[], header?: object) => {
  const components = [
    ...(header ? [{ type: 'header', parameters: [header] }] : []),
    ...(parameters ? [{ type: 'body', parameters }] : []),
  ]
  return { type: 'template', template: { name, language: { code }, ...(components[0] && { components }) } }
}
const headed = (format: string, value: object) =>
  template(`with_${format}`, 'en', undefined, { type: format, [format]: value })
const word = (text: string, parameter_name?: string) => ({
  type: 'text',
  text,
  ...(parameter_name && { parameter_name }),
})
const both = [word('Ana', 'first_name'), word('A-17', 'order_id')]
const button = (id: string, title: string) => ({ type: 'reply', reply: { id, title } })
const buttons = (all: object[], more: object = {}) => ({
  type: 'interactive',
  interactive: { type: 'button', body: { text: 'Which?' }, action: { buttons: all }, ...more },
})
const list = (rows: object[], more: object = {}) => ({
  type: 'interactive',
  interactive: { type: 'list', body: { text: 'Which?' }, action: { button: 'See', sections: [{ rows }], ...more } },
})
const prompt = (type: string, parameters?: object, name = type) => ({
  type: 'interactive',
  interactive: { type, body: { text: 'Please' }, action: { name, ...(parameters && { parameters }) } },
})
const row = (id: string, title = id) => ({ id, title })
const image = (fields: object) => ({ type: 'image', image: fields })
const text = (body: string, more: object = {}) => ({ type: 'text', text: { body }, ...more })
const place = { latitude: -23.5614, longitude: '-46.6559', name: 'Us' }
const card = { name: { formatted_name: 'Ana Dias', first_name: 'Ana' }, phones: [{ phone: '+34600555101' }] }

const refusals: [what: string, body: object, code: number][] = [
  ['no product', { messaging_product: undefined, ...text('x') }, 100],
  ['nobody to send to', { to: undefined, ...text('x') }, 100],
  ['no text', { type: 'text' }, 131008],
  ['an empty body', text(''), 100],
  ['2,049 emoji, which are 4,098 units', text('😀'.repeat(2049)), 100],
  ['a number that is none', { to: '12', ...text('x') }, 131009],
  ['a user id that nobody has', { to: undefined, recipient: 'US.123', ...text('x') }, 131009],
  ['its own number', { to: number.phone, ...text('x') }, 131021],
  ['a correlator of 513 characters', text('x', { biz_opaque_callback_data: 'x'.repeat(513) }), 100],
  ['a quote of nonsense', text('x', { context: { message_id: 'x' } }), 131009],
  ['a template without a name', { type: 'template', template: { language: { code: 'en' } } }, 131008],
  ['an unknown template', template('nothing', 'en'), 132001],
  ['a language that it lacks', template('order_update', 'fr', both), 132001],
  ['a template that is not approved yet', template('summer_sale', 'pt_BR', [word('x')]), 132001],
  ['a paused template', template('paused', 'en'), 132015],
  ['too few values', template('welcome_back', 'pt_BR', [word('Ana')]), 132000],
  ['a value with a line break', template('welcome_back', 'pt_BR', [word('Ana\n'), word('x')]), 132018],
  ['named values without names', template('order_update', 'en', [word('Ana'), word('x')]), 132012],
  ['a picture that is missing', template('new_catalog', 'es'), 132012],
  ['over 1,024 characters', template('welcome_back', 'pt_BR', [word('x'.repeat(1020)), word('x')]), 132005],
  ['a header without its picture', headed('image', {}), 131008],
  ['the reading of an unknown message', { status: 'read', message_id: 'wamid.x' }, 131009],
  ['neither id nor link', image({}), 131008],
  ['a file of another number', image({ id: others }), 100],
  ['words below a sound', { type: 'audio', audio: { id: voice, caption: 'x' } }, 100],
  ['1,025 characters below', image({ id: photo, caption: 'x'.repeat(1025) }), 100],
  ['a place off the globe', { type: 'location', location: { latitude: 91, longitude: 0 } }, 131009],
  ['no contacts', { type: 'contacts', contacts: [] }, 131008],
  ['a contact without parts of a name', { type: 'contacts', contacts: [{ name: { formatted_name: 'A' } }] }, 131008],
  ['two emoji', { type: 'reaction', reaction: { message_id: 'wamid.x', emoji: '👍👍' } }, 131009],
  ['interactive without its inside', { type: 'interactive' }, 131008],
  ['a kind that is not simulated', { type: 'interactive', interactive: { type: 'product' } }, 131051],
  ['a link to another scheme', prompt('cta_url', { display_text: 'See', url: 'ftp://shop.example' }), 100],
  ['a link of 21 characters', prompt('cta_url', { display_text: 'x'.repeat(21), url: 'https://a.example' }), 131009],
  ['an address of another country', prompt('address_message', { country: 'BR' }), 100],
  ['a form without a button', prompt('flow', { flow_message_version: '3', flow_id: '1', flow_token: 'x' }), 131008],
  ['61 characters below', buttons([button('a', 'A')], { footer: { text: 'x'.repeat(61) } }), 131009],
  ['four buttons', buttons(['a', 'b', 'c', 'd'].map((id) => button(id, id))), 100],
  ['a button of 21 characters', buttons([button('a', 'x'.repeat(21))]), 131009],
  ['two buttons of one title', buttons([button('a', 'A'), button('b', 'A')]), 131009],
  ['eleven rows', list(Array.from({ length: 11 }, (_, n) => row(`${n}`))), 100],
  ['a description of 73 characters', list([{ ...row('a'), description: 'x'.repeat(73) }]), 131009],
  ['two sections without titles', list([], { sections: [{ rows: [row('a')] }, { rows: [row('b')] }] }), 131008],
]
test('an invalid message is refused with the code of the platform', async () => {
  for (const [what, body, code] of refusals) {
    const { status, body: refused } = await w.send({ to, ...body })
    assert.deepEqual([status, refused.error?.code], [code === 132001 ? 404 : 400, code], what)
    assert.equal(typeof refused.error.fbtrace_id, 'string')
  }
})

test('a wrong token, an expired token and an unknown number have different errors', async () => {
  const body = { messaging_product: 'whatsapp', to, ...text('x') }
  assert.equal((await w.graph('POST', `${numberId}/messages`, body, 'wrong')).body.error.code, 190)
  const unknown = await w.graph('POST', '999/messages', body)
  assert.deepEqual([unknown.status, unknown.body.error.code, unknown.body.error.error_subcode], [400, 100, 33])
  const change = (fields: object) => w.call('PATCH', `/simulator/numbers/${numberId}`, fields)
  await change({ tokenState: 'expired' })
  const expired = await w.graph('GET', numberId)
  assert.deepEqual([expired.status, expired.body.error.code, expired.body.error.error_subcode], [401, 190, 463])
  await change({ tokenState: 'valid', registered: false })
  assert.equal((await w.text(to, 'x')).body.error.code, 133010)
  await change({ registered: true })
  assert.equal((await w.graph('GET', numberId)).body.display_phone_number, `+${number.phone}`)
})

test('the customer answers a message with one button: the answer quotes it', async () => {
  const answers: [body: object, kind: string, type: string][] = [
    [prompt('location_request_message', undefined, 'send_location'), 'location', 'location'],
    [prompt('request_contact_info'), 'contact_request', 'contacts'],
    [prompt('address_message', { country: 'IN' }), 'address_reply', 'interactive'],
    [
      prompt('flow', { flow_message_version: '3', flow_id: '1', flow_token: 'one', flow_cta: 'Book' }),
      'flow_reply',
      'interactive',
    ],
  ]
  for (const [body, kind, type] of answers) {
    const { id, shown } = await sent(body)
    assert.ok(shown.prompt !== null, kind)
    w.received.length = 0
    await w.call('POST', `/simulator/customers/${zoe.id}/messages`, { kind, text: 'Zoé', about: id })
    await w.simulator.settled()
    const [message] = w.changes()[0].value.messages
    assert.deepEqual([message.type, message.context.id], [type, id])
    const form = message.interactive?.nfm_reply.response_json
    if (kind === 'flow_reply') assert.deepEqual(JSON.parse(form), { flow_token: 'one', answer: 'Zoé' })
    if (kind === 'address_reply') assert.equal(JSON.parse(form).values.address, 'Zoé')
  }
  const { shown } = await sent(prompt('cta_url', { display_text: 'See', url: 'https://a.example' }))
  assert.deepEqual(shown.prompt, { type: 'link', title: 'See', url: 'https://a.example' })
})

test('typing is shown on the phone until the business sends a message', async () => {
  const said = await w.call('POST', `/simulator/customers/${zoe.id}/messages`, { text: 'Hello?' })
  const read = { status: 'read', message_id: said.body.id, typing_indicator: { type: 'text' } }
  assert.equal((await w.send(read)).status, 200)
  const isTyping = async () => (await w.call('GET', `/simulator/customers/${zoe.id}`)).body.businessIsTyping
  assert.equal(await isTyping(), true)
  await sent({ type: 'text', text: { body: 'Hi' } })
  assert.equal(await isTyping(), false)
  await w.send(read)
  await w.call('POST', '/simulator/clock', { advanceMs: 25_000 })
  assert.equal(await isTyping(), false)
  const { status, body } = await w.send({ ...read, typing_indicator: { type: 'audio' } })
  assert.deepEqual([status, body.error.code], [400, 100])
})

test('outside the window a text is accepted and then fails with 131047, while a template is delivered', async () => {
  const late = await w.customer()
  await w.call('POST', '/simulator/clock', { advanceMs: 24 * 3_600_000 })
  await sent({ to: late.phone, ...text('too late') })
  assert.deepEqual([w.statuses(), failure()], [['failed'], 131047])
  const { statuses } = await sent({ ...template('order_update', 'en', both), to: late.phone })
  assert.deepEqual(statuses, ['sent', 'delivered'])
  await w.call('POST', '/simulator/clock', { follow: true })
})

const kinds: [type: string, content: object, shown: object][] = [
  ['audio', { audio: { id: voice, voice: true } }, { kind: 'voice', text: '🎤 Voice message' }],
  ['document', { document: { id: pdf, filename: 'offer.pdf' } }, { kind: 'document', text: '📄 Document · offer.pdf' }],
  ['image', { image: { link: 'https://example.com/a.jpg' } }, { kind: 'image' }],
  ['location', { location: place }, { kind: 'location', place: { ...place, longitude: -46.6559 } }],
  ['contacts', { contacts: [card] }, { kind: 'contacts', text: '👤 Contact · Ana Dias' }],
]
test('the phone shows each kind of message; a file of an unsuitable type fails with 131053', async () => {
  for (const [type, content, expected] of kinds) {
    const { shown, statuses } = await sent({ type, ...content })
    assert.partialDeepStrictEqual(shown, expected)
    assert.deepEqual(statuses, ['sent', 'delivered'])
  }
  const { shown } = await sent(headed('image', { id: photo }))
  assert.deepEqual([shown.header, shown.file.kind, shown.file.id], ['IMAGE', 'image', photo])
  assert.equal((await sent(headed('document', { id: pdf, filename: 'a.pdf' }))).shown.file.name, 'a.pdf')
  assert.equal((await sent(headed('location', place))).shown.place.name, 'Us')
  const wrong = [
    { type: 'sticker', sticker: { id: photo } },
    { type: 'audio', audio: { id: clip } },
  ]
  for (const content of [...wrong, image({ id: sticker }), headed('image', { id: pdf })]) {
    assert.deepEqual([(await sent(content)).statuses, failure()], [['failed'], 131053])
  }
})
