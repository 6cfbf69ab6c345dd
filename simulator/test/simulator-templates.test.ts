import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatorWorld } from '../../server/test/support/channels/simulator.ts'

const w = await simulatorWorld()
const { accountId } = w.simulator.number
const list = `${accountId}/message_templates`
const body = (text: string, ...samples: string[]) => ({
  ...{ type: 'BODY', text },
  ...(samples.length > 0 && { example: { body_text: [samples] } }),
})
const hello = body('Hi {{1}}, how are you today?', 'Ana')
const buttons = (...all: object[]) => ({ type: 'BUTTONS', buttons: all })
let names = 0
const create = (components: object[], more: object = {}) =>
  w.graph('POST', list, { name: `hello_${++names}`, language: 'en', category: 'UTILITY', components, ...more })

const refusals: [what: string, components: object[], subcode: number | undefined, more?: object][] = [
  ['a variable at the start', [body('{{1}}, how are you?', 'Ana')], 2388299],
  ['a variable at the end', [body('How are you, {{1}}', 'Ana')], 2388299],
  ['more variables than words', [body('a {{1}} {{2}} {{3}} b', '1', '2', '3')], 2388293],
  ['a missing sample', [body('Hi {{1}}, how are you?')], 2388043],
  ['a gap in the numbers', [body('Hi {{2}}, how are you?', 'Ana')], 2388072],
  ['a body that is too long', [body('x'.repeat(1025))], 2388040],
  ['a footer with a variable', [hello, { type: 'FOOTER', text: 'By {{1}}' }], 2388073],
  ['a header with an emoji', [{ type: 'HEADER', format: 'TEXT', text: 'Hi 👍' }, hello], 2388047],
  ['an image without a sample', [{ type: 'HEADER', format: 'IMAGE' }, hello], 2388043],
  ['a capital letter in the name', [hello], undefined, { name: 'Hello' }],
  ['an unknown category', [hello], undefined, { category: 'OTP' }],
  [
    'two phone buttons',
    [hello, buttons(...['a', 'b'].map((text) => ({ type: 'PHONE_NUMBER', text, phone_number: '+1' })))],
    undefined,
  ],
  [
    'separated quick replies',
    [
      hello,
      buttons(
        { type: 'QUICK_REPLY', text: 'a' },
        { type: 'URL', text: 'b', url: 'https://x.example' },
        { type: 'QUICK_REPLY', text: 'c' },
      ),
    ],
    undefined,
  ],
  ['a code in a utility template', [hello, buttons({ type: 'COPY_CODE', example: 'SAVE10' })], undefined],
]

test('a new template is refused for what the platform refuses, with its subcode', async () => {
  for (const [what, components, subcode, more] of refusals) {
    const { status, body: answer } = await create(components, more)
    assert.deepEqual([status, answer.error?.code, answer.error?.error_subcode], [400, 100, subcode], what)
  }
})

const otp = (more: object = {}) => buttons({ type: 'OTP', otp_type: 'COPY_CODE', ...more })
const app = { package_name: 'com.example.shop', signature_hash: 'K8a/AINcGX7' }
const codeRefusals: [what: string, components: object[]][] = [
  ['an own text', [hello, otp()]],
  ['a header', [{ type: 'HEADER', format: 'TEXT', text: 'Code' }, { type: 'BODY' }, otp()]],
  ['no button', [{ type: 'BODY' }]],
  ['another button', [{ type: 'BODY' }, buttons({ type: 'QUICK_REPLY', text: 'Thanks' })]],
  ['more than 90 minutes', [{ type: 'BODY' }, { type: 'FOOTER', code_expiration_minutes: 91 }, otp()]],
  ['a long label', [{ type: 'BODY' }, otp({ text: 'x'.repeat(26) })]],
  ['one tap without an app', [{ type: 'BODY' }, otp({ otp_type: 'ONE_TAP' })]],
  [
    'a short hash',
    [{ type: 'BODY' }, otp({ otp_type: 'ONE_TAP', supported_apps: [{ ...app, signature_hash: 'K8a' }] })],
  ],
  ['zero tap without the terms', [{ type: 'BODY' }, otp({ otp_type: 'ZERO_TAP', supported_apps: [app] })]],
]

test('a template for authentication gets the texts of the platform and a link for its button', async () => {
  for (const [what, components] of codeRefusals) {
    assert.equal((await create(components, { category: 'AUTHENTICATION' })).status, 400, what)
  }
  const body = { type: 'body', add_security_recommendation: true }
  const footer = { type: 'footer', code_expiration_minutes: 5 }
  const fields = { name: 'code', category: 'authentication', language: 'pt_BR' }
  assert.equal((await create([body, footer, otp()], fields)).body.status, 'PENDING')
  const [{ category, components }] = (await w.graph('GET', `${list}?name=code`)).body.data
  const [shownBody, shownFooter, { buttons: all }] = components
  assert.deepEqual(
    [category, shownBody.text, shownFooter.text, all[0].type, all[0].url],
    [
      'AUTHENTICATION',
      '*{{1}}* é o seu código de verificação. Para sua segurança, não compartilhe este código.',
      'Este código expira em 5 minutos.',
      'URL',
      'https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code_expiration_minutes=5&code=otp{{1}}',
    ],
  )
})

test('a template waits for review, and each decision is sent by a webhook', async () => {
  const made = await create([hello], { name: 'reviewed' })
  assert.deepEqual([made.status, made.body.status], [200, 'PENDING'])
  const decide = (change: object) => w.call('PATCH', `/simulator/templates/${made.body.id}`, change)
  w.received.length = 0
  const rejection = { reason: 'Unclear.', recommendation: 'Explain it.' }
  await decide({ status: 'REJECTED', rejectedReason: 'SCAM', rejection })
  await decide({ status: 'APPROVED' })
  await decide({ quality: 'RED' })
  await decide({ category: 'MARKETING' })
  await w.simulator.settled()
  const told = w
    .changes()
    .map(({ field, value }) => [field, value.event ?? value.new_quality_score ?? value.new_category])
  assert.deepEqual(told, [
    ['message_template_status_update', 'REJECTED'],
    ['message_template_status_update', 'APPROVED'],
    ['message_template_quality_update', 'RED'],
    ['template_category_update', 'MARKETING'],
  ])
  const [rejected] = w.changes()
  assert.deepEqual([rejected.value.reason, rejected.value.rejection_info], ['SCAM', rejection])
  const [shown] = (await w.graph('GET', `${list}?name=reviewed`)).body.data
  assert.deepEqual([shown.status, shown.category, shown.quality_score], ['APPROVED', 'MARKETING', { score: 'RED' }])
})

test('an approved template is edited once a day, and its category stays', async () => {
  const { id } = (await create([hello])).body
  const edit = (change: object) => w.graph('POST', id, change)
  assert.equal((await edit({ components: [hello] })).status, 400)
  await w.call('PATCH', `/simulator/templates/${id}`, { status: 'APPROVED' })
  assert.equal((await edit({ components: [hello], category: 'MARKETING' })).status, 400)
  assert.deepEqual((await edit({ components: [hello] })).body, { success: true })
  await w.call('PATCH', `/simulator/templates/${id}`, { status: 'APPROVED' })
  const { body: refused } = await edit({ components: [hello] })
  assert.match(refused.error.error_user_msg, /once in 24 hours/)
})

test('a name is taken per language, and after a deletion for 30 days', async () => {
  const fields = { name: 'taken' }
  const { id } = (await create([hello], fields)).body
  assert.equal((await create([hello], fields)).body.error.error_subcode, 2388024)
  assert.equal((await create([hello], { ...fields, language: 'es' })).status, 200)
  await w.call('PATCH', `/simulator/templates/${id}`, { status: 'APPROVED' })
  assert.deepEqual((await w.graph('DELETE', `${list}?name=taken&hsm_id=${id}`)).body, { success: true })
  assert.equal((await w.graph('DELETE', `${list}?name=taken&hsm_id=${id}`)).body.error.error_subcode, 2593002)
  assert.equal((await create([hello], fields)).body.error.error_subcode, 2388023)
  await w.call('POST', '/simulator/clock', { advanceMs: 31 * 86_400_000 })
  assert.equal((await create([hello], fields)).status, 200)
})

test('a sample file is uploaded in two steps, and its handle is taken', async () => {
  const begin = (query: string, token?: string) => w.graph('POST', `app/uploads?${query}`, undefined, token)
  assert.equal((await begin('file_length=5&file_type=text/plain')).status, 400)
  assert.equal((await begin('file_length=5&file_type=image/png', 'wrong')).status, 401)
  const { id } = (await begin('file_length=5&file_type=image/png')).body
  const send = async (text: string) => {
    const headers = { authorization: `OAuth ${w.simulator.number.accessToken}`, 'content-type': 'image/png' }
    const url = `${w.simulator.url}/v25.0/${id}`
    const answer = await fetch(url, { method: 'POST', headers: { ...headers, file_offset: '0' }, body: text })
    return { status: answer.status, body: (await answer.json()) as { h?: string } }
  }
  assert.equal((await send('1234')).status, 400)
  const { h } = (await send('12345')).body
  const header = { type: 'HEADER', format: 'IMAGE', example: { header_handle: [h] } }
  assert.equal((await create([header, hello])).status, 200)
})
