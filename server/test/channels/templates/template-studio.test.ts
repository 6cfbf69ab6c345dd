import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyPlatformSignal } from '../../../src/channels/health/platform-signals.ts'
import { behaviorWorld, businessMessages } from '../../support/channels/behavior-world.ts'
import { type Loose, wabaRig } from '../../support/channels/rigs.ts'
import { testDatabase } from '../../support/database.ts'
import { testTeamToken } from '../../support/world.ts'

const { db } = await testDatabase()
const w = await behaviorWorld(wabaRig)
const { connectionId } = w.line
const drafts = '/template-drafts'
const [row] = await db.sql<{ workspaceId: string }[]>`
  select workspace_id as "workspaceId" from connections where id = ${connectionId}`
const workspaceId = row?.workspaceId ?? ''

let names = 0
const content = (more: object = {}) => ({
  ...{ name: `order_update_${++names}`, language: 'en', category: 'UTILITY', format: 'positional' },
  header: { type: 'none', text: '', sample: '' },
  body: 'Hi {{1}}, we have good news: your order {{2}} ships today.',
  samples: [
    { name: '1', value: 'Ana' },
    { name: '2', value: 'A-17' },
  ],
  ...{ footer: '', buttons: [] },
  ...more,
})

const begin = async (body: object = {}): Promise<Loose> => {
  const { status, body: made } = await w.team('POST', drafts, { connectionId, ...body })
  assert.equal(status, 201, JSON.stringify(made))
  return made.draft
}
const save = async ({ id, version }: Loose, changed: object): Promise<Loose> => {
  const { status, body } = await w.team('PUT', `${drafts}/${id}`, { content: changed, version })
  assert.equal(status, 200, JSON.stringify(body))
  return body.draft
}
const submit = (id: string) => w.team('POST', `${drafts}/${id}/submit`)
const written = async (more: object = {}) => save(await begin(), content(more))
const submitted = async (more: object = {}): Promise<Loose> => {
  const { status, body } = await submit((await written(more)).id)
  assert.equal(status, 200, JSON.stringify(body))
  return body.template
}
const listed = async (name: string): Promise<Loose> =>
  (await w.team('GET', `/connections/${connectionId}/templates`)).body.templates.find((one: Loose) => one.name === name)
const atPlatform = async (name: string): Promise<Loose> =>
  (await w.simulate('GET', 'templates')).templates.find((one: Loose) => one.name === name)
const review = async (name: string, change: object) => {
  await w.simulate('PATCH', `templates/${(await atPlatform(name)).id}`, change)
  await w.settled()
}

/** Uploads a sample file as a browser does. */
async function uploadSample(draftId: string, type: string): Promise<{ status: number; body: Loose }> {
  const { connection } = await w.connections('GET', `/${connectionId}`)
  const { origin } = new URL(connection.webhookUrl)
  const url = `${origin}/api/team/v1/workspaces/${workspaceId}${drafts}/${draftId}/sample?type=${type}&name=sample.jpg`
  const headers = { authorization: `Bearer ${testTeamToken}`, 'content-type': 'application/octet-stream' }
  const answer = await fetch(url, { method: 'POST', headers, body: 'a picture' })
  return { status: answer.status, body: await answer.json() }
}

test('a template is written, submitted, approved by the platform and sent', async () => {
  const draft = await written({
    header: { type: 'text', text: 'Order {{1}}', sample: 'A-17' },
    footer: 'Shop Ltd.',
    buttons: [
      { type: 'quick_reply', text: 'Thanks', value: '', sample: '' },
      { type: 'url', text: 'Track', value: 'https://shop.example/{{1}}', sample: 'A-17' },
    ],
  })
  assert.deepEqual(draft.problems, [])
  const { status, body } = await submit(draft.id)
  assert.equal(status, 200, JSON.stringify(body))
  const { name } = draft.content
  assert.deepEqual([body.template.name, body.template.status], [name, 'PENDING'])
  assert.equal((await w.team('GET', `${drafts}/${draft.id}`)).status, 404)
  await review(name, { status: 'APPROVED' })
  const approved = await listed(name)
  assert.deepEqual([approved.status, approved.sendable], ['APPROVED', true])
  assert.deepEqual(approved.inputs, {
    ...{ headerText: 'Order {{1}}', headerLocation: false },
    buttons: [{ type: 'url', text: 'Track', url: 'https://shop.example/{{1}}' }],
  })
  const ana = await w.line.customer()
  await ana.writes('Olá')
  const { id } = await w.conversation(ana.phone)
  const template = { name, language: 'en', body_params: ['Ana', 'A-17'], header_param: 'A-17', button_params: ['A-17'] }
  const sent = await w.sendAsMember(id, { kind: 'template', template })
  assert.deepEqual([sent.status, sent.body.status], [202, 'sent'], JSON.stringify(sent.body))
  await w.arrived(ana, 1)
  const [message] = await businessMessages(ana)
  assert.deepEqual([message.header, message.footer, message.buttons], ['Order A-17', 'Shop Ltd.', ['Thanks', 'Track']])
})

test('a template for authentication is submitted, and people and agents send its code', async () => {
  const otp = { type: 'copy_code', hasSecurityNote: true, expiresInMinutes: 5, buttonText: '', autofillText: '' }
  const draft = await written({
    category: 'AUTHENTICATION',
    body: '',
    samples: [],
    otp: { ...otp, apps: [], acceptsTerms: false },
  })
  assert.deepEqual(draft.problems, [])
  const { status, body } = await submit(draft.id)
  assert.equal(status, 200, JSON.stringify(body))
  const { name } = draft.content
  await review(name, { status: 'APPROVED' })
  await w.team('POST', `/connections/${connectionId}/templates/sync`)
  const approved = await listed(name)
  assert.deepEqual(
    [approved.sendable, approved.body, approved.parts.footer, approved.inputs.buttons],
    [
      ...[true, '*{{1}}* is your verification code. For your security, do not share this code.'],
      ...['This code expires in 5 minutes.', [{ type: 'otp', text: 'Copy code', url: null }]],
    ],
  )
  const bruno = await w.line.customer('Bruno Sá')
  await bruno.writes('Olá')
  const { id } = await w.conversation(bruno.phone)
  const template = { name, language: 'en', body_params: ['482913'] }
  const filled = { ...template, button_params: ['482913'] }
  const answered = await w.verb('POST', `/conversations/${id}/answer`, { body: { template: filled } })
  assert.equal(answered.status, 200, JSON.stringify(answered.body))
  const other = await w.sendAsMember(id, { kind: 'template', template: { ...filled, button_params: ['482914'] } })
  assert.deepEqual([other.status, other.body.data.code], [422, 'INVALID_MESSAGE'])
  const byPerson = await w.sendAsMember(id, { kind: 'template', template: filled })
  assert.deepEqual([byPerson.status, byPerson.body.status], [202, 'sent'], JSON.stringify(byPerson.body))
  await w.arrived(bruno, 2)
  const [message] = await businessMessages(bruno)
  assert.deepEqual(
    [message.text.slice(0, 8), message.footer, message.prompt],
    ['*482913*', 'This code expires in 5 minutes.', { type: 'code', title: 'Copy code', code: '482913' }],
  )
  // The first version of the API has parameters of the body only.
  const headers = { 'idempotency-key': 'code-of-v1' }
  const old = await w.agent('POST', `/conversations/${id}/messages`, { body: { kind: 'template', template }, headers })
  assert.notEqual(old.status, 202)
  assert.ok(!JSON.stringify((await w.agent('GET', '/templates')).body).includes(name))
})

test('a rejection arrives with its reason; quality and category follow by webhooks', async () => {
  const { name } = await submitted()
  const rejection = { reason: 'Variables stand next to each other.', recommendation: 'Write text between them.' }
  await review(name, { status: 'REJECTED', rejectedReason: 'INVALID_FORMAT', rejection })
  const rejected = await listed(name)
  assert.deepEqual(
    [rejected.status, rejected.rejectedReason, rejected.reviewNote, rejected.editProblem],
    ['REJECTED', 'INVALID_FORMAT', `${rejection.reason}\n${rejection.recommendation}`, null],
  )
  await review(name, { status: 'APPROVED' })
  await review(name, { quality: 'YELLOW' })
  await review(name, { category: 'MARKETING' })
  const rated = await listed(name)
  assert.deepEqual([rated.status, rated.quality, rated.category], ['APPROVED', 'YELLOW', 'MARKETING'])
  // The sync finds the same, and keeps what only the webhook had.
  await review(name, { status: 'REJECTED', rejection })
  await w.team('POST', `/connections/${connectionId}/templates/sync`)
  const synced = await listed(name)
  assert.deepEqual(
    [synced.quality, synced.category, synced.reviewNote],
    [...['YELLOW', 'MARKETING', `${rejection.reason}\n${rejection.recommendation}`]],
  )
})

test('what the platform would refuse is not submitted, and names its field', async () => {
  const draft = await written({ name: 'Order', body: '{{1}} ships', samples: [] })
  assert.ok(draft.problems.length >= 2)
  const { status, body } = await submit(draft.id)
  assert.equal(status, 400)
  const paths = body.data.issues.map(({ path }: Loose) => path)
  assert.ok(paths.includes('name') && paths.includes('body'), String(paths))
  assert.equal(await atPlatform('Order'), undefined)
})

test('two submissions at once create one template', async () => {
  const { id, content: written_ } = await written()
  const answers = await Promise.all([submit(id), submit(id)])
  assert.deepEqual(answers.map(({ status }) => status).filter((status) => status === 200).length, 1)
  const other = answers.find(({ status }) => status !== 200)
  // The draft is being submitted, or is gone already.
  assert.ok(other?.status === 409 || other?.status === 404, JSON.stringify(other))
  const all: Loose[] = (await w.simulate('GET', 'templates')).templates
  assert.equal(all.filter(({ name }) => name === written_.name).length, 1)
})

test('a submission whose answer was lost is found again instead of created twice', async () => {
  const draft = await written()
  await w.simulate('POST', 'faults', { effect: 'reset', on: 'template', accepts: true, times: 1 })
  const lost = await submit(draft.id)
  assert.deepEqual([lost.status, lost.body.data.code], [502, 'OUTCOME_UNKNOWN'])
  assert.equal((await w.team('GET', `${drafts}/${draft.id}`)).body.draft.isTried, true)
  // A look-up that fails says nothing about it.
  await w.simulate('POST', 'faults', { effect: 'reset', on: 'templates', times: 1 })
  assert.equal((await submit(draft.id)).status, 502)
  const again = await submit(draft.id)
  assert.equal(again.status, 200, JSON.stringify(again.body))
  assert.equal(again.body.template.name, draft.content.name)
})

test('a name that is taken, by another template of that language, is refused at the name', async () => {
  const { name } = await submitted()
  const second = await submit((await written({ name, body: 'Quite another text for {{1}} and {{2}} of the shop.' })).id)
  assert.deepEqual([second.status, second.body.data.code, second.body.data.field], [409, 'NAME_TAKEN', 'name'])
  const other = await submit((await written({ name, language: 'es' })).id)
  assert.equal(other.status, 200, JSON.stringify(other.body))
})

test("the platform's own refusal is passed on in its words, and the draft stays", async () => {
  const draft = await written()
  await w.simulate('POST', 'faults', { effect: 'refuse', on: 'template', code: 200, times: 1 })
  const { status, body } = await submit(draft.id)
  assert.deepEqual([status, body.data.code, body.data.platform_code], [422, 'TEMPLATE_REFUSED', '200'])
  assert.match(body.data.platform_message, /Permissions error/)
  assert.equal((await w.team('GET', `${drafts}/${draft.id}`)).status, 200)
})

test('an approved template is edited once a day; its draft is the same for everyone', async () => {
  const { id: templateId, name } = await submitted()
  await review(name, { status: 'APPROVED' })
  const draft = await begin({ templateId })
  assert.equal((await begin({ templateId })).id, draft.id)
  assert.deepEqual(draft.content.samples, content().samples)
  const renamed = await save(draft, { ...draft.content, name: 'another_name' })
  const refused = await submit(draft.id)
  assert.deepEqual([refused.status, refused.body.data.code], [409, 'EDIT_REFUSED'])
  await save(renamed, { ...draft.content, body: 'Hi {{1}}, we have news again: your order {{2}} ships today.' })
  const edited = await submit(draft.id)
  assert.deepEqual([edited.status, edited.body.template.status], [200, 'PENDING'], JSON.stringify(edited.body))
  assert.match((await atPlatform(name)).components[0].text, /news again/)
  await review(name, { status: 'APPROVED' })
  const again = await w.team('POST', drafts, { connectionId, templateId })
  assert.deepEqual([again.status, again.body.data.code], [409, 'EDIT_REFUSED'])
  assert.equal((await listed(name)).editProblem, 'daily')
  const copy = await begin({ templateId, isCopy: true })
  assert.deepEqual([copy.content.name, copy.templateId], [`${name}_copy`, null])
})

test('a header with an image is submitted with an uploaded sample', async () => {
  const draft = await written({ header: { type: 'image', text: '', sample: '' } })
  assert.deepEqual(
    draft.problems.map(({ path }: Loose) => path),
    ['header.file'],
  )
  const uploaded = await uploadSample(draft.id, 'image/jpeg')
  assert.deepEqual([uploaded.status, uploaded.body.draft?.fileName], [200, 'sample.jpg'], JSON.stringify(uploaded.body))
  const wrong = await uploadSample(draft.id, 'application/pdf')
  assert.deepEqual([wrong.status, wrong.body.data.code], [422, 'WRONG_FILE'])
  const { status, body } = await submit(draft.id)
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal((await atPlatform(draft.content.name)).components[0].format, 'IMAGE')
})

test('if the platform refuses a sample without the id of the app, the id is asked for', async () => {
  const draft = await written({ header: { type: 'image', text: '', sample: '' } })
  const refuse = () => w.simulate('POST', 'faults', { effect: 'refuse', on: 'upload', code: 100, times: 1 })
  await refuse()
  const first = await uploadSample(draft.id, 'image/jpeg')
  assert.deepEqual([first.status, first.body.data.code], [422, 'APP_ID_NEEDED'])
  const { connection } = await w.connections('PATCH', `/${connectionId}`, { appId: '670843887433847' })
  assert.equal(connection.appId, '670843887433847')
  await refuse()
  const second = await uploadSample(draft.id, 'image/jpeg')
  assert.deepEqual([second.status, second.body.data.code], [422, 'TEMPLATE_REFUSED'])
  assert.equal((await uploadSample(draft.id, 'image/jpeg')).status, 200)
  const { entries } = await w.simulate('GET', 'journal')
  assert.ok(entries.some(({ path }: Loose) => path?.endsWith('/670843887433847/uploads')))
})

test('a connection without an account id cannot submit', async () => {
  const { numberId, accessToken, appSecret } = await w.simulate('POST', 'numbers', {
    name: 'Kiosk',
    phone: '493077000002',
  })
  const access = { numberId, accessToken, appSecret, baseUrl: w.simulatorUrl }
  const { connection } = await w.connections('POST', '', { channel: 'waba', name: 'Kiosk', ...access })
  const { id } = await save(await begin({ connectionId: connection.id }), content())
  const { status, body } = await submit(id)
  assert.deepEqual([status, body.data.code], [409, 'NO_ACCOUNT'])
})

test('a deleted template is gone here and at the platform, and its name is blocked there', async () => {
  const { id, name } = await submitted()
  await review(name, { status: 'APPROVED' })
  const removed = await w.team('DELETE', `/connections/${connectionId}/templates/${id}`)
  assert.equal(removed.status, 200, JSON.stringify(removed.body))
  assert.deepEqual([await listed(name), await atPlatform(name)], [undefined, undefined])
  const again = await submit((await written({ name })).id)
  assert.deepEqual([again.status, again.body.data.platform_code], [422, '2388023'])
  assert.match(again.body.data.platform_message, /being deleted/i)
})

test('a draft changed by someone else is not overwritten', async () => {
  const draft = await begin()
  await save(draft, content())
  const late = await w.team('PUT', `${drafts}/${draft.id}`, { content: content(), version: draft.version })
  assert.deepEqual([late.status, late.body.data.code], [409, 'DRAFT_CHANGED'])
})

test('drafts are encrypted, limited in size and number, and deleted with their connection', async () => {
  const other = await wabaRig.connect(w)
  const draft = await begin({ connectionId: other.connectionId })
  const secret = 'A secret launch of lamps'
  await save(draft, content({ body: secret }))
  const [stored] = await db.sql<{ content: Buffer }[]>`select content from template_drafts where id = ${draft.id}`
  assert.ok(stored !== undefined && !stored.content.toString('utf8').includes(secret))
  const long = await w.team('PUT', `${drafts}/${draft.id}`, {
    content: content({ body: 'x'.repeat(5000) }),
    version: 2,
  })
  assert.equal(long.status, 400)
  await fillDrafts(other.connectionId)
  const full = await w.team('POST', drafts, { connectionId })
  assert.deepEqual(
    [full.status, full.body.statusMessage],
    [...[409, 'A workspace has at most 200 drafts of templates. Delete one first.']],
  )
  assert.equal((await w.team('DELETE', `/connections/${other.connectionId}`)).status, 200)
  const left: Loose[] = (await w.team('GET', drafts)).body.drafts
  assert.deepEqual(
    left.filter((one) => one.connectionId === other.connectionId),
    [],
  )
})

test('a draft that mentions an erased customer is erased', async () => {
  const samples = [
    { name: '1', value: 'Ana' },
    { name: '2', value: '+55 81 99876-1234' },
  ]
  const [hers, other] = [await written({ samples }), await written()]
  const { status, body } = await w.team('POST', '/erasures', { phone: '5581998761234' })
  assert.equal(status, 201, JSON.stringify(body))
  assert.equal(body.erasure.removed.templateDrafts, 1)
  assert.equal((await w.team('GET', `${drafts}/${hers.id}`)).status, 404)
  assert.equal((await w.team('GET', `${drafts}/${other.id}`)).status, 200)
})

async function fillDrafts(connection: string): Promise<void> {
  await db.sql`
    insert into template_drafts (
      workspace_id, id, connection_id, content, version, is_tried, created_at, updated_at
    )
    select ${workspaceId}, gen_random_uuid(), ${connection}, (select content from template_drafts limit 1), 1, false, now(), now()
    from generate_series(1, 200)`
}

test('templates of a linked phone or a partner are managed elsewhere', async () => {
  const phone = await w.simulate('POST', 'numbers', { name: 'Shop', phone: '493077000001', network: 'linked' })
  assert.ok(phone.numberId)
  const body = { channel: 'unofficial', name: 'Phone', baseUrl: w.simulatorUrl }
  const { connection } = await w.connections('POST', '', body)
  const refused = await w.team('POST', drafts, { connectionId: connection.id })
  assert.deepEqual([refused.status, refused.body.data.code], [409, 'MANAGED_ELSEWHERE'])
})

test('a late status of an unknown template changes nothing', async () => {
  const review = { name: 'nobody_knows', language: 'en', status: 'APPROVED', reason: null, note: null }
  const one = { workspaceId, id: connectionId }
  const deps = { db, clock: { now: () => new Date() } }
  await applyPlatformSignal(deps, one, { type: 'templates_changed', review })
  assert.equal(await listed('nobody_knows'), undefined)
})
