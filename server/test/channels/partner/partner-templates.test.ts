import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { channelWorld } from '../../support/channels/channel-world.ts'
import { platformServer, sendJson } from '../../support/channels/platform-server.ts'

const partner = await platformServer()
after(() => partner.close())

type Listed = Record<string, unknown>
const template = (name: string, more: Listed = {}): Listed => ({
  id: `${name}WT`,
  name,
  language: 'en',
  status: 'approved',
  category: 'UTILITY',
  components: [{ type: 'BODY', text: 'Hi {{1}}' }],
  ...more,
})
const asked = () => partner.asked.filter(({ url }) => url.startsWith('/v1/configs/templates')).map(({ url }) => url)

/** A partner that pages by offset, with or without a total. */
function serve(all: Listed[], says: (page: Listed[], offset: number) => object): void {
  partner.asked = []
  partner.answer = ({ url }, response) => {
    if (!url.startsWith('/v1/configs/templates')) return sendJson(response, 200, {})
    const query = new URL(url, 'http://x').searchParams
    const offset = Number(query.get('offset') ?? query.get('after'))
    sendJson(response, 200, says(all.slice(offset, offset + Number(query.get('limit'))), offset))
  }
}

async function listed() {
  const w = await channelWorld(partner.baseUrl)
  const { id } = await w.connectPartner()
  const answer = await w.call('POST', `/${id}/templates/sync`)
  assert.equal(answer.statusCode, 200)
  return answer.json().templates as Listed[]
}

// Statuses come in any case.
const statuses = ['approved', 'APPROVED', 'submitted', 'rejected', 'paused']
const many = Array.from({ length: 230 }, (_, n) =>
  template(`t${String(n).padStart(3, '0')}`, { status: statuses[n] ?? 'approved' }),
)
const offsets = [0, 100, 200].map((offset) => `/v1/configs/templates?limit=100&offset=${offset}`)

const ends: [what: string, says: (page: Listed[]) => object, pages: number][] = [
  ['all pages are read by offset up to the total', (page) => ({ total: many.length, waba_templates: page }), 3],
  ['without a total, a page that is not full is the last', (page) => ({ waba_templates: page }), 3],
  ['a total that is too large does not go on for ever', (page) => ({ total: 1e9, waba_templates: page }), 4],
]
for (const [what, says, pages] of ends) {
  test(what, async () => {
    serve(many, says)
    const told = await listed()
    assert.deepEqual(
      told.slice(0, 5).map(({ status, sendable }) => `${status} ${sendable}`),
      ['APPROVED true', 'APPROVED true', 'SUBMITTED false', 'REJECTED false', 'PAUSED false'],
    )
    assert.equal(told.length, 230)
    assert.deepEqual(asked().slice(0, 3), offsets)
    assert.equal(asked().length, pages)
  })
}

test('pages that point to the next one, as the official platform’s do, are followed', async () => {
  serve(many, (page, offset) => {
    const after = String(offset + page.length)
    return { data: page, paging: { cursors: { after }, ...(offset < 200 ? { next: 'https://elsewhere' } : {}) } }
  })
  assert.equal((await listed()).length, 230)
  assert.deepEqual(
    asked().map((url) => url.split('&')[1]),
    ['offset=0', 'after=100', 'after=200'],
  )
})

test('a key that is refused while templates are read makes the number unavailable; a fault or a lack of rights does not', async () => {
  serve([], () => ({}))
  const w = await channelWorld(partner.baseUrl)
  const { id } = await w.connectPartner()
  partner.answer = (_, response) => sendJson(response, 502, {})
  const away = await w.call('POST', `/${id}/templates/sync`)
  assert.deepEqual([away.statusCode, away.json().data], [502, { code: 'http_502' }])
  partner.answer = (_, response) => sendJson(response, 403, {})
  assert.equal((await w.call('POST', `/${id}/templates/sync`)).statusCode, 502)
  assert.equal((await w.find(id))?.state, 'active')
  partner.answer = (_, response) => sendJson(response, 401, {})
  assert.equal((await w.call('POST', `/${id}/templates/sync`)).statusCode, 502)
  const { state, stateReason } = (await w.find(id)) ?? {}
  assert.deepEqual([state, stateReason], ['unavailable', 'platform_error_http_401'])
})
