import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxSnippet, snippetOf } from '../../src/knowledge/search.ts'
import { signedInMember } from '../support/member.ts'
import { world } from '../support/world.ts'

async function knowledgeWorld() {
  const w = await world({ scopes: ['knowledge.read'] })
  const admin = await signedInMember(w, 'admin')
  const write = async (title: string, body: string, more: object = {}) => {
    const fields = { kind: 'article', language: 'en', title, body, status: 'published', ...more }
    const { status, body: created } = await admin.call('POST', '/knowledge/articles', fields)
    assert.equal(status, 201, JSON.stringify(created))
    return created.article
  }
  const search = async (query: string, more: Record<string, string> = {}, key?: string) => {
    const options = { query: { query, ...more }, ...(key !== undefined && { key }) }
    const { status, body } = await w.call('GET', '/api/v2/knowledge/search', options)
    assert.equal(status, 200, JSON.stringify(body))
    return body.articles.map((one: { title: string }) => one.title) as string[]
  }
  return { ...w, admin, write, search }
}

test('articles are found by the forms of their words, with or without accents, in their language', async () => {
  const w = await knowledgeWorld()
  await w.write('How do I return something?', 'You can send shoes back within 30 days. Refunds take five days.')
  await w.write('Opening hours', 'We are open from 9 to 18 on weekdays.', { tags: ['schedule'] })
  await w.write('Política de devoluções', 'Você pode devolver produtos em 30 dias. O reembolso é automático.', {
    language: 'pt',
  })
  await w.write('Envíos', 'Enviamos a toda España en dos días hábiles.', { language: 'es' })
  const cases: [query: string, first: string][] = [
    ['returning shoes', 'How do I return something?'],
    ['refund', 'How do I return something?'],
    ['When are you open?', 'Opening hours'],
    ['schedule', 'Opening hours'],
    ['devolução', 'Política de devoluções'],
    ['devolucoes', 'Política de devoluções'],
    ['DEVOLUÇÕES', 'Política de devoluções'],
    ['reembolsos automaticos', 'Política de devoluções'],
    ['envios', 'Envíos'],
    ['dias habiles', 'Envíos'],
    // Some of the words, and words that only begin alike.
    ['how many elephants can I return', 'How do I return something?'],
    ['refundd', 'How do I return something?'],
  ]
  for (const [query, first] of cases) assert.equal((await w.search(query))[0], first, query)
  for (const query of ['elephant', 'the', '???', '!!! & | <->']) assert.deepEqual(await w.search(query), [], query)
  assert.deepEqual(await w.search('"opening hours" -weekdays or schedule'), ['Opening hours'])
  assert.deepEqual(await w.search('devolucoes', { language: 'en' }), [])
  assert.deepEqual(await w.search('devolucoes', { language: 'PT' }), ['Política de devoluções'])
})

test('a match in the title ranks before one in the text, and the best comes first', async () => {
  const w = await knowledgeWorld()
  await w.write('Shipping', 'Boxes leave in the morning. A warranty is in the box.')
  await w.write('Warranty', 'Two years.')
  await w.write('Repairs', 'With a warranty, repairs are free: show the warranty card for a warranty repair.')
  assert.deepEqual((await w.search('warranty')).slice(0, 2), ['Warranty', 'Repairs'])
  assert.equal((await w.search('warranty', { limit: '1' })).length, 1)
})

test('agents find only what is published, valid now, and for their key; of other workspaces nothing', async () => {
  const w = await knowledgeWorld()
  const hourMs = 3_600_000
  const at = (ms: number) => new Date(w.clock.now().getTime() + ms).toISOString()
  const other = await w.addKey({ scopes: ['knowledge.read'] })
  const mine = await w.write('Mine voucher', 'x', { keyIds: [w.keyId] })
  await w.write('Theirs voucher', 'x', { keyIds: [other.id] })
  await w.write('Nobody voucher', 'x', { keyIds: [] })
  await w.write('Draft voucher', 'x', { status: 'draft' })
  await w.write('Archived voucher', 'x', { status: 'archived' })
  await w.write('Soon voucher', 'x', { validFrom: at(hourMs) })
  await w.write('Until voucher', 'x', { validUntil: at(hourMs) })
  assert.deepEqual((await w.search('voucher')).sort(), ['Mine voucher', 'Until voucher'])
  assert.deepEqual((await w.search('voucher', {}, other.value)).sort(), ['Theirs voucher', 'Until voucher'])
  w.clock.advance(hourMs)
  assert.deepEqual((await w.search('voucher')).sort(), ['Mine voucher', 'Soon voucher'])

  const read = (id: string, key: string) => w.call('GET', `/api/v2/knowledge/articles/${id}`, { key })
  assert.equal((await read(mine.id, w.key)).status, 200)
  assert.equal((await read(mine.id, other.value)).status, 404)
  const stranger = await knowledgeWorld()
  assert.deepEqual(await stranger.search('voucher'), [])
  assert.equal((await read(mine.id, stranger.key)).status, 404)

  const people = await w.admin.call('GET', '/knowledge/search?query=voucher')
  assert.equal(people.body.articles.length, 4, 'people see articles for any key')
  const all = await w.admin.call('GET', '/knowledge/search?query=voucher&all=true')
  assert.equal(all.body.articles.length, 7)
  const drafts = await w.admin.call('GET', '/knowledge/search?query=voucher&all=true&status=draft')
  assert.equal(drafts.body.articles[0].title, 'Draft voucher')
})

test('a change of an article changes what finds it at once', async () => {
  const w = await knowledgeWorld()
  const article = await w.write('Parking', 'Behind the house.')
  assert.deepEqual(await w.search('house'), ['Parking'])
  const path = `/knowledge/articles/${article.id}`
  await w.admin.call('PATCH', path, { version: 1, body: 'Under the bridge.' })
  assert.deepEqual([await w.search('house'), await w.search('bridge')], [[], ['Parking']])
  await w.admin.call('PATCH', path, { version: 2, status: 'draft' })
  assert.deepEqual(await w.search('bridge'), [])
})

test('a snippet is the part of a text that fits the words', () => {
  const long = `${'Nothing of use here. '.repeat(30)}\n\nRefunds take five days.\nThe rest follows.`
  assert.equal(snippetOf('Short.\n\nText.', ['refun']), 'Short.\n\nText.')
  assert.equal(snippetOf(long, ['refun']), 'Refunds take five days.\nThe rest follows.')
  const line = `${'word '.repeat(200)}refund ${'word '.repeat(200)}`
  const snippet = snippetOf(line, ['refun'])
  assert.ok(snippet.startsWith('…') && snippet.includes('refund') && snippet.length <= maxSnippet, snippet)
  const start = process.cpuUsage()
  for (const text of ['a'.repeat(20_000), 'a\n'.repeat(10_000), 'é '.repeat(10_000)]) snippetOf(text, ['refun', 'days'])
  const { user } = process.cpuUsage(start)
  assert.ok(user < 1_000_000, `${user} µs`)
})
