import assert from 'node:assert/strict'
import { test } from 'node:test'
import { customerMessage, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'

const path = '/inbox/conversations'

async function noteWorld() {
  const w = await inboxWorld()
  const { id } = await w.customerWrites('Hi')
  w.clock.advance(1000)
  const [ana, bea] = [await signedInMember(w), await signedInMember(w)]
  const add = (text: string, key: string, more: object = {}, by: TestMember = ana, at = id) =>
    by.call('POST', `${path}/${at}/notes`, { text, ...more }, { 'idempotency-key': key })
  const texts = async () =>
    (await ana.call('GET', `${path}/${id}/notes`)).body.notes.map((note: { text: string }) => note.text)
  return { w, id, ana, bea, add, texts }
}

test('a note repeated with its key is stored once, and the response says so', async () => {
  const { w, id, ana, bea, add, texts } = await noteWorld()
  const first = await add('Call back', 'one', { mentions: [bea.userId] })
  assert.deepEqual([first.status, first.headers['idempotent-replayed']], [201, undefined])
  const { updatedAt } = (await ana.call('GET', `${path}/${id}`)).body.conversation
  w.clock.advance(60_000)
  const again = await add('Call back', '"one"', { mentions: [bea.userId.toUpperCase()] })
  assert.deepEqual([again.status, again.headers['idempotent-replayed'], again.body], [201, 'true', first.body])
  assert.equal((await ana.call('GET', `${path}/${id}`)).body.conversation.updatedAt, updatedAt)
  assert.deepEqual(await texts(), ['Call back'])
})

test('of many concurrent notes with one key one is stored, whatever conversation they are for', async () => {
  const { w, add, texts, ana, id } = await noteWorld()
  await w.deliver(customerMessage({ at: w.clock.now(), customer: { ...marina, phone: '5511988887777' } }))
  const [other] = await w.conversations({ phone: '5511988887777' })
  const answers = await Promise.all(Array.from({ length: 8 }, () => add('Call back', 'one')))
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
  assert.equal(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined).length, 1)
  const both = await Promise.all([id, other.id, id, other.id].map((at) => add('Look', 'two', {}, ana, at)))
  assert.deepEqual(both.map(({ status }) => status).sort(), [201, 201, 422, 422])
  const elsewhere = (await ana.call('GET', `${path}/${other.id}/notes`)).body.notes.length
  assert.equal((await texts()).length + elsewhere, 2)
})

test('a key belongs to one note of one author: another text, mention or conversation is refused, another author is not', async () => {
  const { add, texts, bea } = await noteWorld()
  await add('Call back', 'one')
  for (const answer of [await add('Call now', 'one'), await add('Call back', 'one', { mentions: [bea.userId] })]) {
    assert.deepEqual([answer.status, answer.body.data.code], [422, 'IDEMPOTENCY_KEY_USED'])
  }
  assert.equal((await add('Call now', 'one', {}, bea)).status, 201)
  assert.deepEqual(await texts(), ['Call back', 'Call now'])
  assert.equal((await add('x', ' '.repeat(3))).status, 400)
  assert.equal((await add('x', 'k'.repeat(256))).status, 400)
})

test('without a key each note is stored, and non-members are not mentioned', async () => {
  const { id, ana, texts } = await noteWorld()
  const stranger = await signedInMember(await inboxWorld())
  for (let n = 0; n < 2; n++) await ana.call('POST', `${path}/${id}/notes`, { text: 'Again' })
  const refused = await ana.call('POST', `${path}/${id}/notes`, { text: 'x', mentions: [stranger.userId] })
  assert.deepEqual([refused.status, refused.body.data.issues[0].path], [400, 'mentions'])
  assert.deepEqual(await texts(), ['Again', 'Again'])
})

test('a conversation shows the newest ad that brought the customer', async () => {
  const { w, id, ana } = await noteWorld()
  const referral = async () => (await ana.call('GET', `${path}/${id}`)).body.referral
  assert.equal(await referral(), null)
  for (const headline of ['Summer offer', 'Winter offer']) {
    const ad = { ctwa_clid: null, source_id: '1', source_type: 'ad', source_url: 'https://fb.me/1', headline }
    await w.deliver({ ...customerMessage({ at: w.clock.now(), text: 'I saw it' }), referral: ad })
    w.clock.advance(1000)
  }
  await w.customerWrites('And more')
  assert.equal((await referral()).headline, 'Winter offer')
})
