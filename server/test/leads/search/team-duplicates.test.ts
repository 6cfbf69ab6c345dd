import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leadsPath } from '../../support/leads/leads.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'
import { world } from '../../support/world.ts'

async function withMember() {
  const w = await world({ defaultCountry: 'BR' })
  return { w, member: await signedInMember(w) }
}

interface Found {
  lead: { id: string }
  same: string[]
}

const shown = (body: { duplicates: Found[] }) => body.duplicates.map(({ lead, same }) => [lead.id, same])
const check = async (member: TestMember, body: object) => shown((await member.call('POST', '/leads/check', body)).body)

test('duplicates of a lead have its phone in any variant or its e-mail in any case, without deleted leads and itself', async () => {
  const { w, member } = await withMember()
  const { id } = await w.lead({ phone: '5581991234567', email: 'marina@example.com' })
  w.clock.advance(1000)
  const byPhone = await w.lead({ phone: '558191234567' })
  w.clock.advance(1000)
  const both = await w.lead({ phone: '5581991234567', email: 'Marina@Example.com' })
  w.clock.advance(1000)
  const byEmail = await w.lead({ phone: '5581991234568', email: 'MARINA@example.com' })
  const gone = await w.lead({ phone: '5581991234567' })
  await member.call('DELETE', `/leads/${gone.id}`)
  const { status, body } = await member.call('GET', `/leads/${id}/duplicates`)
  assert.equal(status, 200)
  assert.deepEqual(shown(body), [
    [byPhone.id, ['phone']],
    [both.id, ['phone', 'email']],
    [byEmail.id, ['email']],
  ])
  assert.deepEqual(body.duplicates[0].lead, byPhone)
  assert.equal((await member.call('GET', '/leads/nobody/duplicates')).status, 404)
})

test('input for a new lead is checked as it would be parsed, and incomplete input matches nothing', async () => {
  const { w, member } = await withMember()
  const { id } = await w.lead({ phone: '5581991234567', email: 'marina@example.com' })
  assert.deepEqual(await check(member, { phone: '(81) 99123-4567' }), [[id, ['phone']]])
  assert.deepEqual(await check(member, { phone: '+55 81 9123-4567', email: 'x@example.com' }), [[id, ['phone']]])
  assert.deepEqual(await check(member, { phone: '(81) 99', email: ' MARINA@example.com ' }), [[id, ['email']]])
  for (const body of [{}, { phone: '' }, { phone: 'call me', email: '' }, { phone: '5581991234' }]) {
    assert.deepEqual(await check(member, body), [], JSON.stringify(body))
  }
  assert.equal((await member.call('POST', '/leads/check', { name: 'Marina' })).status, 400)
})

test('an e-mail in another case, or with its domain in the other form, is the same contact and is found in both forms', async () => {
  const { w, member } = await withMember()
  const [own, other, encoded] = ['Ana@München.de', 'ANA@münchen.DE', 'ana@xn--mnchen-3ya.de'] as const
  const ids: string[] = []
  for (const email of [own, other, encoded]) {
    ids.push((await w.lead({ email })).id)
    w.clock.advance(1000)
  }
  for (const [at, id] of ids.entries()) {
    const { body } = await member.call('GET', `/leads/${id}/duplicates`)
    const others = ids.filter((_, place) => place !== at).map((one) => [one, ['email']])
    assert.deepEqual(shown(body), others)
  }
  for (const term of [own, other, encoded, 'münchen', 'MU\u0308NCHEN.de', 'xn--mnchen-3ya', '@XN--mnchen-3ya.de']) {
    const { data } = (await w.call('GET', leadsPath, { query: { search: term } })).body
    assert.deepEqual(pick(data, 'id').sort(), ids.toSorted(), term)
  }
})

test('leads of another workspace are not duplicates', async () => {
  const { w: theirs } = await withMember()
  const { id } = await theirs.lead({ phone: '5581991234567', email: 'marina@example.com' })
  const { w, member } = await withMember()
  const own = await w.lead({ phone: '5581991234567', email: 'marina@example.com' })
  assert.deepEqual(shown((await member.call('GET', `/leads/${own.id}/duplicates`)).body), [])
  assert.equal((await member.call('GET', `/leads/${id}/duplicates`)).status, 404)
})
