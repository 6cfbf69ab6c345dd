import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conversationPath, customerMessage, inboxWorld } from '../../support/inbox/inbox-world.ts'

async function talk(count: number) {
  const w = await inboxWorld()
  await w.deliver(...Array.from({ length: count }, (_, n) => customerMessage({ at: w.clock.now(), text: String(n) })))
  const [{ id }] = await w.conversations()
  const page = async (query: Record<string, string> = {}) =>
    (await w.call('GET', `${conversationPath(id)}/messages`, { query })).body
  return { w, id, page }
}

const texts = (page: { messages: { text: string }[] }): number[] => page.messages.map((one) => Number(one.text))

test('the newest 50 are returned by default, oldest first, and has_more tells whether there are older ones', async () => {
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

test('paging with before returns every message of one second once', async () => {
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

test('an invalid or malformed query is 400 INVALID_QUERY, and 404 if there is no conversation', async () => {
  const { w, id } = await talk(1)
  const queries = [
    'limit=0',
    'limit=101',
    'limit=1.5',
    'limit=1&limit=2',
    'limit=%zz',
    'before=then',
    'after=2026-01-01',
  ]
  for (const [conversation, status, code] of [
    [id, 400, 'INVALID_QUERY'],
    [w.workspaceId, 404, 'NOT_FOUND'],
    ['x', 404, 'NOT_FOUND'],
  ] as const) {
    for (const query of queries) {
      const answer = await w.call('GET', `${conversationPath(conversation)}/messages?${query}`)
      assert.deepEqual([answer.status, answer.body.data.code], [status, code], `${conversation}: ${query}`)
    }
  }
})
