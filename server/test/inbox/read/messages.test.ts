import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conversationPath, customerMessage, inboxWorld } from '../../support/inbox/inbox-world.ts'

async function talk(count: number) {
  const w = await inboxWorld()
  await w.tell(...Array.from({ length: count }, (_, n) => customerMessage({ at: w.clock.now(), text: String(n) })))
  const [{ id }] = await w.conversations()
  const page = async (query: Record<string, string> = {}) =>
    (await w.call('GET', `${conversationPath(id)}/messages`, { query })).body
  return { w, id, page }
}

const texts = (page: { messages: { text: string }[] }): number[] => page.messages.map((one) => Number(one.text))

test('the newest 50 come by default, oldest first, and has_more says whether there are older ones', async () => {
  const { page } = await talk(51)
  const first = await page()
  assert.deepEqual(
    texts(first),
    Array.from({ length: 50 }, (_, n) => n + 1),
  )
  assert.equal(first.has_more, true)
  const rest = await page({ before: first.messages[0].occurred_at })
  assert.deepEqual([texts(rest), rest.has_more], [[0], false])
})

test('paging by before meets every message of one second once', async () => {
  const { page } = await talk(9)
  const walked: number[] = []
  for (let before: string | undefined; ; ) {
    const part = await page({ limit: '2', ...(before === undefined ? {} : { before }) })
    walked.unshift(...texts(part))
    if (!part.has_more) break
    before = part.messages[0].occurred_at
  }
  assert.deepEqual(
    walked,
    Array.from({ length: 9 }, (_, n) => n),
  )
})

const refused: Record<string, string>[] = [
  { limit: '0' },
  { limit: '101' },
  { limit: '1.5' },
  { before: 'then' },
  { after: '2026-01-01' },
]

for (const query of refused) {
  test(`messages?${new URLSearchParams(query)} is 400 INVALID_QUERY`, async () => {
    const { w, id } = await talk(1)
    const { status, body } = await w.call('GET', `${conversationPath(id)}/messages`, { query })
    assert.deepEqual([status, body.data.code], [400, 'INVALID_QUERY'])
  })
}

test('messages of no conversation are 404 NOT_FOUND, whatever the query', async () => {
  const { w } = await talk(1)
  for (const id of [w.workspaceId, 'x']) {
    const { status, body } = await w.call('GET', `${conversationPath(id)}/messages`, { query: { limit: 'x' } })
    assert.deepEqual([status, body.data], [404, { code: 'NOT_FOUND' }])
  }
})
