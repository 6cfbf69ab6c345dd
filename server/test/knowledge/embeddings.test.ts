import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { test } from 'node:test'
import { loadConfig } from '../../src/config.ts'
import { createEmbedder, embedArticles } from '../../src/knowledge/embeddings.ts'
import { fuseRankings, searchKnowledge } from '../../src/knowledge/search.ts'
import { createArticle } from '../../src/knowledge/write-article.ts'
import { atEnd } from '../support/file-lifecycle.ts'
import { fileServer } from '../support/outgoing/file-server.ts'
import { world } from '../support/world.ts'

test('rankings are combined by the ranks in each', () => {
  const cases: [rankings: string[][], fused: string[]][] = [
    [
      [['a', 'b'], []],
      ['a', 'b'],
    ],
    [
      [
        ['a', 'b', 'c'],
        ['b', 'c', 'd'],
      ],
      ['b', 'c', 'a', 'd'],
    ],
    [[[], ['x']], ['x']],
  ]
  for (const [rankings, fused] of cases) assert.deepEqual(fuseRankings(rankings), fused)
})

test('an endpoint needs a model', () => {
  const settings = { PARLEY_EMBEDDINGS_URL: 'https://models.example/v1/', PARLEY_EMBEDDINGS_MODEL: 'small' }
  assert.deepEqual(loadConfig(settings).embeddings, { url: 'https://models.example/v1', model: 'small', key: null })
  assert.equal(loadConfig({}).embeddings, null)
  assert.throws(() => loadConfig({ PARLEY_EMBEDDINGS_URL: 'https://models.example' }), /PARLEY_EMBEDDINGS_MODEL/)
  assert.throws(() => loadConfig({ PARLEY_EMBEDDINGS_KEY: 'x' }), /PARLEY_EMBEDDINGS_URL/)
})

/** Texts about feet are near each other, whatever their words. */
const vectorOf = (text: string): number[] => (/shoe|boot|sandal|footwear/i.test(text) ? [1, 0, 0.1] : [0, 1, 0.1])

function answerVectors(request: IncomingMessage, response: ServerResponse): void {
  let body = ''
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    const { input } = JSON.parse(body) as { input: string[] }
    const data = input.map((text, index) => ({ index, embedding: vectorOf(text) })).reverse()
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ data }))
  })
}

async function embeddingWorld() {
  const w = await world()
  const server = await fileServer(answerVectors)
  atEnd(server.close)
  const settings = { url: server.baseUrl, model: 'small', key: 'secret' }
  const embedder = createEmbedder(w, settings)
  const author = { workspaceId: w.workspaceId, actor: { type: 'agent' as const, id: w.keyId }, mayPublish: true }
  const write = (title: string, body: string) => {
    const text = { kind: 'article' as const, language: 'en', title, body, tags: [] }
    const fields = { ...text, keyIds: null, validFrom: null, validUntil: null }
    return createArticle(w, author, { fields, status: 'published', source: 'api', sourceAddress: null })
  }
  const search = async (query: string) => {
    const reader = { workspaceId: w.workspaceId, keyId: null, now: w.clock.now() }
    const found = await searchKnowledge({ db: w.db, embedder }, reader, { query, limit: 5 })
    return found.map(({ title }) => title)
  }
  return { ...w, server, embedder, write, search }
}

test('vectors come from the endpoint with its key; while it fails, it is not asked again for a while', async () => {
  const w = await embeddingWorld()
  assert.deepEqual(await w.embedder.embed(['shoe', 'sun'], 1000), [
    [1, 0, 0.1],
    [0, 1, 0.1],
  ])
  assert.deepEqual([w.server.asked[0]?.line, w.server.asked[0]?.authorization], ['POST /embeddings', 'Bearer secret'])
  const faulty = [
    'nonsense',
    '{"data":[]}',
    '{"data":[{"index":0,"embedding":["x"]}]}',
    '{"data":[{"index":0,"embedding":[]}]}',
  ]
  for (const body of faulty) {
    w.clock.advance(60_000)
    w.server.answer = (_request, response) => response.end(body)
    assert.equal(await w.embedder.embed(['shoe'], 1000), null, body)
  }
  const asked = w.server.asked.length
  assert.equal(await w.embedder.embed(['shoe'], 1000), null)
  assert.equal(w.server.asked.length, asked, 'it is paused')
  assert.equal(w.logLines.filter((line) => line.includes('failed to compute embeddings')).length, faulty.length)
  w.clock.advance(60_000)
  w.server.answer = answerVectors
  assert.ok(await w.embedder.embed(['shoe'], 1000))
})

test('without pgvector, words alone are searched, and the endpoint is not asked', async (t) => {
  const w = await embeddingWorld()
  if (await w.embedder.isUsable()) return t.skip('this database has pgvector')
  await w.write('Boots', 'We sell boots.')
  assert.deepEqual([await w.search('boots'), await embedArticles(w.db, w.embedder)], [['Boots'], 0])
  assert.deepEqual(w.server.asked, [])
})

test('articles are found by their meaning, and by words alone while the endpoint fails', async (t) => {
  const w = await embeddingWorld()
  const [available] = await w.db.sql`select from pg_available_extensions where name = 'vector'`
  if (available === undefined) return t.skip('PostgreSQL has no pgvector')
  await w.db.sql`create extension if not exists vector`
  w.clock.advance(600_000)
  const boots = await w.write('Boots', 'We sell boots in all sizes.')
  await w.write('Umbrellas', 'For rain.')
  assert.ok((await embedArticles(w.db, w.embedder)) >= 2)
  assert.equal(await embedArticles(w.db, w.embedder), 0)
  assert.equal((await w.search('Do you have sandals?'))[0], 'Boots')
  assert.equal((await w.search('rain'))[0], 'Umbrellas')
  await w.db.sql`update knowledge_articles set version = 2 where id = ${boots.id}`
  assert.equal(await embedArticles(w.db, w.embedder), 1, 'only what has changed')
  w.server.answer = (_request, response) => response.writeHead(500).end()
  assert.deepEqual(await w.search('sandals'), [])
  assert.deepEqual(await w.search('boots'), ['Boots'])
})
