import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createTouch, recordTouch } from '../../../src/leads/sources/attribution.ts'
import { websiteWorld } from '../../channels/website/website-world.ts'
import { formWorld, tokenIn } from '../../support/form-world.ts'
import { mergeWorld } from '../../support/leads/merge-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'

const attributionOf = async (member: TestMember, id: string) =>
  (await member.call('GET', `/leads/${id}/attribution`)).body

test('a form keeps the campaign and the click of the address, through its page', async () => {
  const w = await formWorld()
  const member = await signedInMember(w)
  const form = await w.newForm()
  const page = await w.app.inject({ url: `/f/${form.slug}?utm_source=news&utm_campaign=may&fbclid=IwAR1&other=1` })
  assert.match(page.body, /name="fbclid" value="IwAR1"/)
  assert.doesNotMatch(page.body, /name="other"/)
  w.clock.advance(5_000)
  const values = {
    firstName: 'Ana',
    _token: tokenIn(page.body),
    fbclid: 'IwAR1',
    k_utm_source: 'news',
    k_utm_campaign: 'may',
  }
  assert.equal((await w.send(form.slug, values)).statusCode, 303)
  const [lead] = await w.leads()
  const { first } = await attributionOf(member, lead?.id ?? '')
  assert.deepEqual([first.channel, first.source, first.campaign, first.fbclid], ['form', 'news', 'may', 'IwAR1'])
  const json = { firstName: 'Bia', gclid: 'g1' }
  assert.equal((await w.post(form.slug, json, { 'content-type': 'application/json' })).statusCode, 201)
  const [, second] = await w.leads()
  assert.equal((await attributionOf(member, second?.id ?? '')).first.gclid, 'g1')
})

test('a lead of the website chat keeps the page where the chat began', async () => {
  const w = await websiteWorld({ fields: { name: 'optional', email: 'optional', phone: 'off' } })
  const admin = await signedInMember(w, 'admin')
  assert.equal((await admin.call('PATCH', '', { leadsFromChat: true })).status, 200)
  const token = await w.begin({ name: 'Ana', email: 'ana@example.com' })
  const page = 'https://shop.example/offer?utm_source=ad&secret=1'
  const write = (body: object) => w.visit('POST', 'messages', { token, body: { clientId: randomUUID(), ...body } })
  assert.equal((await write({ text: 'Hi', page })).statusCode, 201)
  assert.equal((await write({ text: 'Hi again', page: 'https://shop.example/other' })).statusCode, 201)
  assert.equal((await write({ text: 'x', page: 'x'.repeat(5000) })).statusCode, 400)
  const [lead] = (await admin.call('GET', '/leads')).body.leads
  const { first, last } = await attributionOf(admin, lead.id)
  assert.deepEqual([first.channel, first.source, first.url], ['website', 'ad', 'https://shop.example/offer'])
  assert.deepEqual(last, first)
})

test('merged leads show the first and the last touch of both, and an older one comes first whenever it is read', async () => {
  const { w, member, one, two, merge } = await mergeWorld()
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const at = (days: number) => new Date(Date.UTC(2026, 0, days))
  const keep = (leadId: string, days: number, source: string) =>
    w.db.tx((tx) => recordTouch(tx, keyring, w.workspaceId, leadId, createTouch('webhook', at(days), { source })))
  await keep(one.id, 5, 'five')
  await keep(one.id, 3, 'three')
  await keep(one.id, 4, 'four')
  await keep(two.id, 9, 'nine')
  await keep(two.id, 1, 'one')
  const sources = async (id: string) => {
    const { first, last } = await attributionOf(member, id)
    return [first?.source, last?.source]
  }
  assert.deepEqual(
    [await sources(one.id), await sources(two.id)],
    [
      ['three', 'five'],
      ['one', 'nine'],
    ],
  )
  assert.equal((await merge()).status, 200)
  assert.deepEqual(await sources(one.id), ['one', 'nine'])
  assert.deepEqual(await attributionOf(member, (await w.lead({ phone: '5511987650077' })).id), {
    first: null,
    last: null,
  })
})
