import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formWorld, nameField } from '../../support/form-world.ts'
import { customerMessage, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'

const phoneField = { key: 'phone', label: 'Phone', type: 'phone', required: true } as const
const consentField = { key: 'marketingConsent', label: 'Send me offers', type: 'boolean', required: false } as const
const consentPath = (id: string): string => `/leads/${id}/marketing-consent`

test('a ticked box of a form opts in to marketing; an empty box says nothing', async () => {
  const w = await formWorld()
  const member = await signedInMember(w)
  const form = await w.newForm({ fields: [nameField, phoneField, consentField] })
  const consentOf = async (phone: string) => (await member.call('GET', consentPath(phone))).body
  const send = (phone: string, marketingConsent?: boolean) =>
    w.post(form.slug, { firstName: 'Ana', phone, ...(marketingConsent !== undefined && { marketingConsent }) })
  assert.equal((await send('5581991234567')).statusCode, 201)
  assert.equal((await send('5581991234568', false)).statusCode, 201)
  assert.equal((await send('5581991234569', true)).statusCode, 201)
  assert.equal((await consentOf('5581991234567')).current, null)
  assert.equal((await consentOf('5581991234568')).current, null)
  const { current, history } = await consentOf('5581991234569')
  const { decision, source, actor, counts } = current
  assert.deepEqual(
    { decision, source, actor, counts },
    {
      ...{ decision: 'opted_in', source: 'form', counts: true },
      actor: { type: 'form', id: form.id },
    },
  )
  assert.equal(history.length, 1)
  assert.deepEqual(
    (await w.leads()).map(({ customFields = [] }) => customFields),
    [[], [], []],
    'no field of the lead',
  )
})

test('a form cannot end an opt-out: anyone can fill it in', async () => {
  const w = await formWorld()
  const member = await signedInMember(w)
  const form = await w.newForm({ fields: [nameField, phoneField, consentField] })
  const body = { firstName: 'Ana', phone: '5581991234567', marketingConsent: true }
  await w.post(form.slug, body)
  await member.call('PUT', consentPath('5581991234567'), { decision: 'opted_out' })
  w.clock.advance(60_000)
  await w.post(form.slug, body)
  const { current, history } = (await member.call('GET', consentPath('5581991234567'))).body
  assert.equal(current.decision, 'opted_out')
  assert.deepEqual(
    history.map((one: { decision: string; counts: boolean }) => `${one.decision} ${one.counts}`),
    ['opted_in false', 'opted_out true', 'opted_in true'],
  )
})

test('a form with the box needs a phone, to which the consent applies', async () => {
  const w = await formWorld()
  const member = await signedInMember(w, 'admin')
  const { status, body } = await member.call('POST', '/forms', {
    ...{ name: 'Test', title: 'Test', fields: [nameField, consentField] },
  })
  assert.deepEqual([status, body.data?.issues?.[0]?.path], [400, 'fields[1].key'])
})

test('a decision recorded on a lead shows in its conversations, and theirs on the lead; it can be undone', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  const { body } = await member.call('POST', '/leads', { firstName: 'Marina', phone: marina.phone })
  const leadId: string = body.lead.id
  const { id } = await w.customerWrites('Hello')
  const shown = async () =>
    (await member.call('GET', `/inbox/conversations/${id}`)).body.conversation.marketingConsent?.decision ?? null
  const put = await member.call('PUT', consentPath(leadId), { decision: 'opted_out' })
  assert.deepEqual([put.status, put.body.current.decision, await shown()], [200, 'opted_out', 'opted_out'])
  const undone = await member.call('DELETE', consentPath(leadId))
  assert.deepEqual([undone.status, undone.body.current, await shown()], [200, null, null])
  assert.equal((await member.call('DELETE', consentPath(leadId))).status, 409)
  w.clock.advance(1000)
  await w.deliver(customerMessage({ at: w.clock.now(), text: 'STOP' }))
  const { current } = (await member.call('GET', consentPath(leadId))).body
  assert.deepEqual([current.decision, current.source, current.actor.type], ['opted_out', 'keyword', 'system'])

  const other = await member.call('POST', '/leads', { firstName: 'Nobody' })
  assert.equal((await member.call('PUT', consentPath(other.body.lead.id), { decision: 'opted_in' })).status, 409)
  assert.equal((await member.call('GET', consentPath(crypto.randomUUID()))).status, 404)
})

test('an opt-out follows a lead to its new number, whose own decision counts more', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  const { body } = await member.call('POST', '/leads', { firstName: 'Marina', phone: marina.phone, externalRef: 'm-1' })
  const path = `/leads/${body.lead.id}`
  const current = async () => (await member.call('GET', consentPath(body.lead.id))).body.current?.decision ?? null
  await member.call('PUT', consentPath(body.lead.id), { decision: 'opted_out' })
  assert.equal((await member.call('PATCH', path, { phone: '5581977770001' })).status, 200)
  assert.equal(await current(), 'opted_out')
  const key = (await w.addKey({ scopes: ['leads.write', 'leads.bulk'] })).value
  const match = { by: 'externalRef', value: 'm-1' }
  const upsert = { match, lead: { phone: '5581977770002' } }
  assert.equal((await w.call('POST', '/api/v1/leads/upsert', { body: upsert, key })).status, 200)
  assert.equal(await current(), 'opted_out')
  w.clock.advance(1000)
  await member.call('PUT', consentPath(body.lead.id), { decision: 'opted_in' })
  assert.equal((await member.call('PATCH', path, { phone: marina.phone })).status, 200)
  assert.equal(await current(), 'opted_out', 'the former number kept it')
  assert.equal((await member.call('PATCH', path, { phone: '5581977770002' })).status, 200)
  assert.equal(await current(), 'opted_in', 'its own decision')
})
