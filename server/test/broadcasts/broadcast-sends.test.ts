import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eraseBroadcasts } from '../../src/broadcasts/erase.ts'
import { leadsPath } from '../support/leads/leads.ts'
import { broadcastWorld, drainFor, hour, variant } from './broadcast-world.ts'

const slow = { options: { quietDays: 0, optInOnly: false, perMinute: 30 } }

test('a number that moves to another lead while it runs gets nothing a second time', async () => {
  const w = await broadcastWorld()
  const phones = await w.addLeads(3)
  const { id } = await w.prepare(slow)
  await w.start(id)
  await w.drain()
  const recipients = await w.recipients(id)
  const leadOf = (isSent: boolean) => {
    const found = recipients.filter((one: { status: string }) => (one.status === 'pending') !== isSent)
    return found.map((one: { leadId: string }) => one.leadId)
  }
  const [sent = ''] = phones.filter((phone) => w.sentTo(phone) === 1)
  const [moved, corrected] = leadOf(false)
  const change = async (leadId: string, phone: string) => {
    const { status, body } = await w.call('PATCH', `${leadsPath}/${leadId}`, { body: { phone }, key: w.key })
    assert.equal(status, 200, JSON.stringify(body))
  }
  await change(moved, sent)
  await change(corrected, '5581777770001')
  await drainFor(w, 10_000)
  assert.deepEqual([w.sentTo(sent), w.sentTo('5581777770001')], [1, 1])
  const after = (await w.recipients(id)).find((one: { leadId: string }) => one.leadId === moved)
  assert.deepEqual([after.status, after.reason], ['skipped', 'duplicate'])
})

test('a broadcast that counts against the messaging limit is not deleted', async () => {
  const w = await broadcastWorld()
  await w.setNumber({ messagingLimit: 10 })
  await w.addLeads(9)
  const { id } = await w.prepare()
  await w.start(id)
  await drainFor(w, 4_000)
  assert.equal(w.accepted().length, 9)
  assert.equal((await w.read(id)).state, 'done', 'it does not wait for a limit that nobody is left for')
  const deleted = await w.admin.call('DELETE', `/broadcasts/${id}`)
  assert.equal(deleted.status, 409, JSON.stringify(deleted.body))
  w.clock.advance(24 * hour)
  assert.equal((await w.admin.call('DELETE', `/broadcasts/${id}`)).status, 200)
})

test('erasing a customer makes no audience larger', async () => {
  const w = await broadcastWorld()
  const [phone = ''] = await w.addLeads(3)
  const { id, counts } = await w.prepare({ audience: { filter: { search: phone }, viewName: null } })
  assert.equal(counts.leads, 1)
  const customer = {
    ...{ phones: [phone], emails: [], knownEmails: [], userIds: [], mergedIds: [] },
    ...{ leadIds: [], conversationIds: [] },
  }
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const scope = { workspaceId: w.workspaceId, keyring, customer, createdBefore: w.clock.now(), now: w.clock.now() }
  await w.db.tx((tx) => eraseBroadcasts(tx, scope))
  await w.member.call('POST', `/broadcasts/${id}/count`, {})
  await w.drain()
  const after = await w.read(id)
  assert.ok(!JSON.stringify(after).includes(phone))
  assert.deepEqual([after.state, after.reason, after.counts], ['draft', 'filter', null])
})

test('an agent that repeats itself does not use up the broadcasts of the workspace', async () => {
  const w = await broadcastWorld()
  const { value: key } = await w.addKey({ scopes: ['inbox.write', 'inbox.read', 'leads.read'] })
  const body = {
    ...{ name: 'From an agent', connection_id: w.connectionId, template_name: 'sale', template_language: 'en' },
    variables: ['firstName|there'],
  }
  for (let n = 0; n < 20; n++) {
    assert.equal((await w.call('POST', '/api/v2/broadcasts', { body, key })).status, 200)
  }
  const refused = await w.call('POST', '/api/v2/broadcasts', { body, key })
  assert.equal(refused.status, 409, JSON.stringify(refused.body))
})

test('a template that gets another number of variables pauses it, and leaves nobody out', async () => {
  const w = await broadcastWorld()
  const phones = await w.addLeads(4)
  const { id } = await w.prepare(slow)
  await w.start(id)
  await w.drain()
  const setVariables = (count: number) => w.db.sql`
    update templates set parameter_count = ${count}
    where workspace_id = ${w.workspaceId} and name = 'sale'`
  await setVariables(2)
  await drainFor(w, 8_000)
  const { state, reason, results } = await w.read(id)
  assert.deepEqual([state, reason, results?.variants[0].skipped ?? 0], ['paused', 'template', 0])
  await setVariables(1)
  await w.control(id, 'resume')
  await drainFor(w, 8_000)
  assert.deepEqual(
    phones.map((phone) => w.sentTo(phone)),
    phones.map(() => 1),
  )
})

test('a template with a file or a location carries it, and who has no usable address of a file is left out', async () => {
  const w = await broadcastWorld()
  const field = await w.admin.call('POST', '/lead-fields', { key: 'picture', label: 'Picture', type: 'text' })
  assert.equal(field.status, 201, JSON.stringify(field.body))
  const [ana = '', plain = ''] = await w.addLeads(3)
  const url = 'https://shop.example/Ana%20B.jpg'
  for (const [phone, picture] of [[ana, url] as const, [plain, 'http://shop.example/plain.jpg'] as const]) {
    const [lead] = (await w.admin.call('GET', `/leads?search=${phone}`)).body.leads
    const changed = await w.admin.call('PATCH', `/leads/${lead.id}`, { customFieldValues: { picture } })
    assert.equal(changed.status, 200, JSON.stringify(changed.body))
  }
  const catalog = { ...variant('catalog'), file: { from: 'custom', value: 'picture' } }
  const { id, counts } = await w.prepare({ variants: [catalog] })
  assert.deepEqual([counts.included, counts.excluded], [1, { missing_value: 2 }])
  await w.start(id)
  await drainFor(w, 4_000)
  const orderTo = (phone: string) => w.platform.calls.findLast(({ recipient }) => recipient.phone === phone)?.message
  const sent = orderTo(ana)
  assert.ok(sent?.kind === 'template')
  assert.deepEqual(sent.header, { kind: 'image', name: 'Ana B.jpg', url })
  assert.equal(w.platform.uploads.length, 0)
  const location = { latitude: -8.05, longitude: -34.9, name: 'Shop' }
  const opening = await w.prepare({ variants: [{ ...variant('opening'), location }] })
  await w.start(opening.id)
  await drainFor(w, 4_000)
  const invited = orderTo(ana)
  assert.ok(invited?.kind === 'template')
  assert.deepEqual(invited.inputs?.headerLocation, location)
})
