import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addReadyMade, type ReadyMade } from '../../src/simulator/files/ready-made.ts'
import type { TemplateComponent } from '../../src/simulator/template.ts'
import { addTemplate } from '../../src/simulator/template-routes.ts'
import { simulatorWorld } from '../support/channels/simulator.ts'

const w = await simulatorWorld()
const { platform, number } = w.simulator
const zoe = await w.customer()
const to = zoe.phone
const made = (name: ReadyMade) => addReadyMade(platform.files, number.numberId, name).id
const [photo, clip, voice, pdf, sticker] = (['photo', 'clip', 'voice', 'pdf', 'sticker'] as const).map(made)
const others = addReadyMade(platform.files, 'another-number', 'photo').id
const chat = async () => (await w.call('GET', `/simulator/customers/${zoe.id}`)).body.messages
const place = { latitude: -23.5614, longitude: '-46.6559', name: 'Us' }
const card = { name: { formatted_name: 'Ana Dias', first_name: 'Ana' }, phones: [{ phone: '+34600555101' }] }

const nameless = { name: { formatted_name: 'A' } }

async function sent(body: object) {
  w.received.length = 0
  const answer = await w.send({ to, ...body })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  await w.simulator.settled()
  return { id: answer.body.messages[0].id, shown: (await chat()).at(-1), statuses: w.statuses() }
}

const kinds: [string, object, object][] = [
  ['audio', { audio: { id: voice, voice: true } }, { kind: 'voice', text: '🎤 Voice message' }],
  ['document', { document: { id: pdf, filename: 'offer.pdf' } }, { kind: 'document', text: '📄 Document · offer.pdf' }],
  ['document', { document: { id: photo, caption: 'As it is' } }, { kind: 'document' }],
  ['image', { image: { link: 'https://example.com/a.jpg' } }, { kind: 'image' }],
  ['location', { location: place }, { kind: 'location', place: { ...place, longitude: -46.6559 } }],
  ['contacts', { contacts: [card] }, { kind: 'contacts', text: '👤 Contact · Ana Dias' }],
]
for (const [type, content, expected] of kinds) {
  test(`what is sent as ${JSON.stringify(content).slice(0, 60)} is on the phone`, async () => {
    const { shown, statuses } = await sent({ type, ...content })
    assert.partialDeepStrictEqual(shown, expected)
    assert.deepEqual(statuses, ['sent', 'delivered'])
  })
}

const button = (id: string, title: string) => ({ type: 'reply', reply: { id, title } })
const buttons = (all: object[], more: object = {}) => ({
  type: 'interactive',
  interactive: { type: 'button', body: { text: 'Which?' }, action: { buttons: all }, ...more },
})
const list = (rows: object[], more: object = {}) => ({
  type: 'interactive',
  interactive: { type: 'list', body: { text: 'Which?' }, action: { button: 'See', sections: [{ rows }], ...more } },
})
const row = (id: string, title = id) => ({ id, title })

const refusals: [string, object, number, RegExp?][] = [
  ['nothing about the picture', { type: 'image' }, 131008, /missing/],
  ['neither id nor link', { type: 'image', image: {} }, 131008, /missing/],
  ['both', { type: 'image', image: { id: photo, link: 'https://example.com/a.jpg' } }, 100, /Only one/],
  ['an id that is nowhere', { type: 'image', image: { id: '1' } }, 100, /media id/],
  ['a file of another number', { type: 'image', image: { id: others } }, 100, /media id/],
  ['a link that is none', { type: 'image', image: { link: 'javascript:alert(1)' } }, 100, /valid URI/],
  ['words below a sound', { type: 'audio', audio: { id: voice, caption: 'x' } }, 100, /Unexpected key "caption"/],
  ['words below a sticker', { type: 'sticker', sticker: { id: sticker, caption: 'x' } }, 100, /Unexpected key/],
  ['a name of a picture', { type: 'image', image: { id: photo, filename: 'x' } }, 100, /Unexpected key "filename"/],
  ['1,025 characters below', { type: 'image', image: { id: photo, caption: 'x'.repeat(1025) } }, 100, /1024/],
  ['a place without degrees', { type: 'location', location: { latitude: 1 } }, 131008, /missing/],
  ['a place off the globe', { type: 'location', location: { latitude: 91, longitude: 0 } }, 131009, /not valid/],
  ['no contacts', { type: 'contacts', contacts: [] }, 131008, /missing/],
  ['a contact without a name', { type: 'contacts', contacts: [{ phones: [] }] }, 131008, /missing/],
  ['a contact without parts of a name', { type: 'contacts', contacts: [nameless] }, 131008, /missing/],
  ['a reaction to nothing', { type: 'reaction', reaction: { emoji: '👍' } }, 131008, /missing/],
  ['a reaction of words', { type: 'reaction', reaction: { message_id: 'wamid.x', emoji: 'yes' } }, 131009, /not valid/],
  ['two emoji', { type: 'reaction', reaction: { message_id: 'wamid.x', emoji: '👍👍' } }, 131009, /not valid/],
  ['a quote without an id', { type: 'text', text: { body: 'x' }, context: {} }, 131008, /missing/],
  ['a quote of nonsense', { type: 'text', text: { body: 'x' }, context: { message_id: 'x' } }, 131009, /not valid/],
  ['interactive without its inside', { type: 'interactive' }, 131008],
  ['a kind that is not simulated', { type: 'interactive', interactive: { type: 'flow' } }, 131051],
  ['no words above', buttons([button('a', 'A')], { body: {} }), 131008],
  ['1,025 characters above', buttons([button('a', 'A')], { body: { text: 'x'.repeat(1025) } }), 131009],
  ['61 characters below', buttons([button('a', 'A')], { footer: { text: 'x'.repeat(61) } }), 131009],
  ['no button', buttons([]), 100],
  ['four buttons', buttons(['a', 'b', 'c', 'd'].map((id) => button(id, id))), 100],
  ['a button with a link', buttons([{ type: 'url', url: { title: 'A' } }]), 100],
  ['a button of 21 characters', buttons([button('a', 'x'.repeat(21))]), 131009],
  ['two buttons of one title', buttons([button('a', 'A'), button('b', 'A')]), 131009],
  ['two buttons of one id', buttons([button('a', 'A'), button('a', 'B')]), 131009],
  ['an id that ends with a space', buttons([button('a ', 'A')]), 131009],
  ['a list without a button', list([row('a')], { button: undefined }), 131008],
  ['a list without rows', list([]), 131008],
  ['eleven rows', list(Array.from({ length: 11 }, (_, n) => row(`${n}`))), 100],
  ['a row of 25 characters', list([row('a', 'x'.repeat(25))]), 131009],
  ['a description of 73 characters', list([{ ...row('a'), description: 'x'.repeat(73) }]), 131009],
  ['two rows of one id', list([row('a'), row('a', 'B')]), 131009],
  ['two sections without titles', list([], { sections: [{ rows: [row('a')] }, { rows: [row('b')] }] }), 131008],
]
for (const [what, body, code, words] of refusals) {
  test(`the simulator refuses ${what} with ${code}`, async () => {
    const answer = await w.send({ to, ...body })
    assert.deepEqual([answer.status, answer.body.error?.code], [400, code])
    if (words !== undefined) assert.match(answer.body.error.message, words)
  })
}

test('a file that does not go as what it is sent as is accepted, and fails with 131053', async () => {
  for (const content of [
    { type: 'image', image: { id: sticker } },
    { type: 'image', image: { id: pdf } },
    { type: 'audio', audio: { id: clip } },
    { type: 'sticker', sticker: { id: photo } },
  ]) {
    const { statuses } = await sent(content)
    assert.deepEqual([statuses, w.changes()[0].value.statuses[0].errors[0].code], [['failed'], 131053])
  }
})

test('a reaction is on the bubble, is lifted by an empty one, and is told of as sent alone', async () => {
  const { body } = await w.call('POST', `/simulator/customers/${zoe.id}/messages`, { text: 'Thanks!' })
  const react = (emoji: string) => sent({ type: 'reaction', reaction: { message_id: body.id, emoji } })
  const { shown, statuses } = await react('🙏')
  assert.deepEqual([shown.id, shown.reactions, statuses], [body.id, { customer: null, business: '🙏' }, ['sent']])
  assert.equal((await react('')).shown.reactions.business, null)
  await w.call('POST', `/simulator/customers/${zoe.id}/read`)
  // What was sent before is told of as read.
  await w.simulator.settled()
  assert.equal((await w.call('GET', `/simulator/customers/${zoe.id}`)).body.unread, 0)
  const { statuses: ofUnknown } = await sent({ type: 'reaction', reaction: { message_id: 'wamid.none', emoji: '👍' } })
  assert.deepEqual([ofUnknown, w.changes()[0].value.statuses[0].errors[0].code], [['failed'], 131009])
})

test('an answer shows what it quotes, and goes without it when that is not there', async () => {
  const { body } = await w.call('POST', `/simulator/customers/${zoe.id}/messages`, { text: 'Which one?' })
  const text = (id: string) => sent({ type: 'text', text: { body: 'This one' }, context: { message_id: id } })
  assert.equal((await text(body.id)).shown.quotes, body.id)
  const { shown, statuses } = await text('wamid.none')
  assert.deepEqual([shown.quotes, statuses], [null, ['sent', 'delivered']])
})

test('a template carries the picture, the document or the place of its header', async () => {
  const common = { language: 'en', status: 'APPROVED', category: 'UTILITY', parameter_format: 'POSITIONAL' } as const
  for (const format of ['IMAGE', 'DOCUMENT', 'LOCATION'] as const) {
    const components: TemplateComponent[] = [
      { type: 'HEADER', format },
      { type: 'BODY', text: 'Here it is' },
    ]
    addTemplate(platform.world, { ...common, name: `with_${format.toLowerCase()}`, components })
  }
  const template = (format: string, value: object) => {
    const parameters = [{ type: format, [format]: value }]
    const components = [{ type: 'header', parameters }]
    return { type: 'template', template: { name: `with_${format}`, language: { code: 'en' }, components } }
  }
  const { shown } = await sent(template('image', { id: photo }))
  assert.deepEqual([shown.header, shown.file.kind, shown.file.id], ['IMAGE', 'image', photo])
  assert.equal((await sent(template('document', { id: pdf, filename: 'a.pdf' }))).shown.file.name, 'a.pdf')
  assert.equal((await sent(template('location', place))).shown.place.name, 'Us')
  assert.deepEqual((await sent(template('image', { id: pdf }))).statuses, ['failed'])
  assert.equal((await w.send({ to, ...template('image', {}) })).body.error.code, 131008)
  assert.equal((await w.send({ to, ...template('image', { id: '1' }) })).body.error.code, 100)
})

test('a customer presses a button and a row, and the platform tells their ids and what they answer to', async () => {
  const tell = async (body: object) => {
    const { body: accepted } = await w.send({ to, ...body })
    return accepted.messages[0].id as string
  }
  await w.call('POST', `/simulator/customers/${zoe.id}/messages`, { text: 'Hi' })
  const asked = await tell(buttons([button('yes', 'Yes'), button('no', 'No')]))
  const listed = await tell(list([row('mon', 'Monday'), { ...row('tue', 'Tuesday'), description: 'With Ana' }]))
  await w.simulator.settled()
  w.received.length = 0
  const path = `/simulator/customers/${zoe.id}/messages`
  assert.equal((await w.call('POST', path, { about: asked, choiceId: 'no' })).status, 201)
  assert.equal((await w.call('POST', path, { about: listed, choiceId: 'tue' })).status, 201)
  assert.equal((await w.call('POST', path, { about: asked, choiceId: 'tue' })).status, 422)
  await w.simulator.settled()
  const told = w.changes().flatMap(({ value }) => value.messages ?? [])
  assert.deepEqual(
    told.map(({ type, interactive, context }) => [type, interactive, context.id]),
    [
      ['interactive', { type: 'button_reply', button_reply: { id: 'no', title: 'No' } }, asked],
      [
        'interactive',
        { type: 'list_reply', list_reply: { id: 'tue', title: 'Tuesday', description: 'With Ana' } },
        listed,
      ],
    ],
  )
})
