import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inboxReceive } from '../../../src/app/inbox.ts'
import type { Referral } from '../../../src/channels/channel-event.ts'
import { findConnection } from '../../../src/channels/connection/queries.ts'
import { customerMessage, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'

async function chat() {
  const w = await inboxWorld({ key: { scopes: ['leads.read', 'leads.write', 'inbox.read'] } })
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const connection = await findConnection(w.db.sql, keyring, w.workspaceId, w.connectionId)
  assert.ok(connection)
  const take = inboxReceive(w)
  const writes = (customer = marina, referral: Referral | null = null) =>
    take(connection, [customerMessage({ at: w.clock.now(), customer, referral })])
  const admin = await signedInMember(w, 'admin')
  const leads = async () => (await w.call('GET', '/api/v1/leads')).body.data
  return { w, writes, admin, leads }
}

test('a customer without a lead gets one if the workspace wants that, once', async () => {
  const { writes, admin, leads } = await chat()
  await writes()
  assert.deepEqual(await leads(), [])
  await admin.call('PATCH', '', { leadsFromChat: true })
  await Promise.all([writes(), writes(), writes()])
  const [lead, ...others] = await leads()
  assert.deepEqual(
    [lead.firstName, lead.phone, lead.source, others.length],
    ['Marina Duarte', marina.phone, 'chat_app', 0],
  )
})

test('a lead with any variant of the number stays unchanged', async () => {
  const { w, writes, admin, leads } = await chat()
  await admin.call('PATCH', '', { leadsFromChat: true })
  const lead = await w.lead({ phone: '558191234567' })
  await writes()
  assert.deepEqual(await leads(), [lead])
})

test('a customer without a phone gets no lead, and one without a name is named after the number', async () => {
  const { writes, admin, leads } = await chat()
  await admin.call('PATCH', '', { leadsFromChat: true })
  await writes({ ...marina, phone: null, userId: 'BR.1' })
  await writes({ ...marina, name: null })
  assert.deepEqual(
    (await leads()).map((one: { firstName: string }) => one.firstName),
    ['+5581991234567'],
  )
})

test('a customer from an ad gets a lead with that ad platform as source', async () => {
  const { writes, admin, leads } = await chat()
  await admin.call('PATCH', '', { leadsFromChat: true })
  await writes(marina, {
    ctwa_clid: 'click-1',
    source_id: '120',
    source_type: 'ad',
    source_url: 'https://ads.example/1',
    headline: 'Summer',
  })
  const [lead] = await leads()
  assert.deepEqual([lead.source, lead.adPlatform], ['chat_app', 'meta'])
})

test('the team sees the lead with the phone of a conversation, in any variant', async () => {
  const { w, writes, admin } = await chat()
  await writes()
  const [{ id }] = await w.conversations()
  const read = async () => (await admin.call('GET', `/inbox/conversations/${id}`)).body.lead
  assert.equal(await read(), null)
  const lead = await w.lead({ firstName: 'Marina', lastName: 'Duarte', phone: '558191234567', status: 'qualified' })
  assert.deepEqual(await read(), {
    id: lead.id,
    uniqueCode: lead.uniqueCode,
    name: 'Marina Duarte',
    status: 'qualified',
    assignedTo: null,
  })
})
