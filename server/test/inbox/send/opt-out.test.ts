import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import type { ChannelEvent, Customer } from '../../../src/channels/channel-event.ts'
import { parseCallback } from '../../../src/channels/waba/parse/parse-callback.ts'
import { setConsent } from '../../../src/inbox/consent/set-consent.ts'
import { noon, sendWorld } from '../../support/inbox/send-world.ts'

const shut = { windowExpiresAt: new Date(noon.getTime() - 1) }
const template = (name: string) => ({ kind: 'template', template: { name, language: 'en_US', body_params: [] } })

async function optOutWorld() {
  const w = await sendWorld()
  for (const category of ['MARKETING', 'UTILITY']) {
    await w.db.sql`
      insert into templates (
        workspace_id, connection_id, id, name, language, category, status, body, parameter_count, body_only, synced_at
      )
      values (
        ${w.workspaceId}, ${w.connectionId}, ${newId(noon)}, ${category.toLowerCase()}, 'en_US', ${category}, 'APPROVED',
        'Hi', 0, true, ${noon}
      )`
  }
  return {
    ...w,
    said: async (id: string, name: string) => {
      const { status, body } = await w.post(id, { body: template(name) })
      return `${status} ${body.data?.code ?? body.status}`
    },
  }
}

const preference = (customer: Customer, isStopped: boolean, minutes: number): ChannelEvent => ({
  type: 'marketing_preference',
  customer,
  isStopped,
  source: 'setting',
  at: new Date(noon.getTime() + minutes * 60_000),
})

test('an opted-out customer gets no marketing template but everything else; late and repeated words change nothing', async () => {
  const w = await optOutWorld()
  w.clock.advance(60 * 60_000)
  const { id, contact } = await w.conversation(shut)
  const said = (isStopped: boolean, minutes: number) =>
    w.tell(preference({ ...contact, name: null }, isStopped, minutes))
  assert.equal(await w.said(id, 'marketing'), '202 sent')
  await said(true, 10)
  assert.equal(await w.said(id, 'marketing'), '422 OPTED_OUT')
  assert.equal(await w.said(id, 'utility'), '202 sent')
  await said(false, 5)
  assert.equal(await w.said(id, 'marketing'), '422 OPTED_OUT', 'an older word came late')
  await said(false, 20)
  assert.equal(await w.said(id, 'marketing'), '202 sent')
  await said(true, 60 * 24 * 365)
  w.clock.advance(60_000)
  await said(false, 61)
  assert.equal(await w.said(id, 'marketing'), '202 sent', 'a word from the future holds until now')
})

test('a customer who wants no updates gets no utility template but everything else', async () => {
  const w = await optOutWorld()
  w.clock.advance(60_000)
  const { id } = await w.conversation(shut)
  const actor = { type: 'agent', id: w.keyId } as const
  const decide = (decision: 'opted_in' | 'opted_out' | 'undo') =>
    setConsent(w.node.deps, { workspaceId: w.workspaceId, connectionIds: [] }, actor, id, decision, 'utility')
  await decide('opted_out')
  const refused = await w.post(id, { body: template('utility') })
  const { code, purpose, source } = refused.body.data
  assert.deepEqual([refused.status, code, purpose, source], [422, 'OPTED_OUT', 'utility', 'agent'])
  assert.equal(await w.said(id, 'marketing'), '202 sent')
  await decide('undo')
  assert.equal(await w.said(id, 'utility'), '202 sent')
})

test('an opt-out from before decisions had a history still counts, until a newer decision', async () => {
  const w = await optOutWorld()
  w.clock.advance(60 * 60_000)
  const [phone, at] = ['5511955550009', new Date(noon.getTime() + 10 * 60_000).toISOString()]
  const address = { phone, userId: null }
  const contact = { name: 'Ana', phone, userId: null, parentUserId: null, address, marketing: { isStopped: true, at } }
  const { id } = await w.conversation({ ...shut, contact })
  const reply = await w.post(id, { body: template('marketing') })
  assert.deepEqual([reply.status, reply.body.data.source, reply.body.data.opted_out_at], [422, 'platform', at])
  const customer = { ...contact, name: null }
  await w.tell(preference(customer, false, 5))
  assert.equal(await w.said(id, 'marketing'), '422 OPTED_OUT', 'an older word')
  await w.tell(preference(customer, false, 20))
  assert.equal(await w.said(id, 'marketing'), '202 sent')
})

test('an opt-out is stored for a customer who never wrote, and kept when two are merged', async () => {
  const w = await optOutWorld()
  const [phone, userId] = ['5511955550001', 'BR.7']
  await w.tell(preference({ userId, parentUserId: null, phone: null, name: null }, true, 0))
  const customer = { userId, parentUserId: null, phone, name: 'Ana' }
  await w.tell({
    ...{ type: 'message', externalId: 'wamid.1', customer, kind: 'text', text: 'Hi', at: noon },
    ...{ referral: null, opensWindow: true },
  })
  const [row] = await w.db.sql<[{ id: string }]>`select id from conversations where workspace_id = ${w.workspaceId}`
  await w.db.sql`update conversations set owner_key_id = ${w.keyId} where id = ${row.id}`
  assert.equal(await w.said(row.id, 'marketing'), '422 OPTED_OUT')
})

test('a preference is parsed with its customer; other topics and unknown values are skipped', () => {
  const body = (item: object, contacts: object[] = [{ wa_id: '972987654321', user_id: 'IL.1' }]) => ({
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '1',
        changes: [
          {
            field: 'user_preferences',
            value: { metadata: { phone_number_id: '2' }, contacts, user_preferences: [item] },
          },
        ],
      },
    ],
  })
  const item = { wa_id: '972987654321', category: 'marketing_messages', value: 'stop', timestamp: 1731705721 }
  const at = new Date(1731705721000)
  const customer = { userId: 'IL.1', parentUserId: null, phone: '972987654321', name: null }
  const read = (...args: Parameters<typeof body>) => parseCallback(body(...args), noon)
  const source = 'setting'
  assert.deepEqual(read(item).items[0]?.event, { type: 'marketing_preference', customer, isStopped: true, source, at })
  assert.deepEqual(read({ ...item, wa_id: undefined, value: 'resume' }).items[0]?.event, {
    ...{ type: 'marketing_preference', customer, isStopped: false, source, at },
  })
  for (const odd of [{ category: 'utility' }, { value: 'maybe' }]) {
    assert.deepEqual(read({ ...item, ...odd }).skipped, ['unknown preference'])
  }
  assert.deepEqual(read({ ...item, wa_id: undefined }, []).skipped, ['preference without a customer'])
})
