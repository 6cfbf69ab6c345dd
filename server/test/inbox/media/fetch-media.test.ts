import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { mediaTopic } from '../../../src/inbox/conversation/conversation.ts'
import { publishPendingMedia } from '../../../src/inbox/media/fetch-queries.ts'
import { retryMedia } from '../../../src/inbox/team-api/files/file-routes.ts'
import { StoreError } from '../../../src/media/store/store.ts'
import { png } from '../../support/inbox/files-world.ts'
import { marina } from '../../support/inbox/inbox-world.ts'
import { digestOf, mediaWorld, type PlatformFile } from '../../support/inbox/media-world.ts'
import { endless } from '../../support/outgoing/file-server.ts'

test('a downloaded file is encrypted, has its detected type and a safe name, and no longer its source', async () => {
  const w = await mediaWorld()
  const told: string[] = []
  w.db.subscribe(mediaTopic, (news) => told.push(news))
  const file = Buffer.concat([png, Buffer.alloc(300_000, 1)])
  const id = await w.coming(
    { bytes: file, metadata: { mime_type: 'image/png', sha256: digestOf(file) } },
    { name: '../../etc/\u202egnp.exe', width: 3 },
  )
  await w.fetcher().drain()
  const row = await w.row(id)
  assert.partialDeepStrictEqual(row, {
    state: 'here',
    failure: null,
    dueAt: null,
    leaseUntil: null,
    bytes: file.length,
    details: {
      name: 'gnp.exe',
      mimeType: 'image/png',
      realType: 'image/png',
      size: file.length,
      sha256: digestOf(file),
      width: 3,
    },
  })
  assert.equal(row.details.source, undefined)
  assert.match(await w.metrics.render(), /^parley_files_total\{result="here"\} [1-9]/m)
  assert.ok((await w.content(id)).equals(file))
  const news = told.map((one) => JSON.parse(one)).filter(({ mediaId }) => mediaId === id)
  assert.partialDeepStrictEqual(news, [{ workspaceId: w.workspaceId, conversationId: w.conversationId, state: 'here' }])
})

for (const isThere of [true, false]) {
  test(`a file that ${isThere ? 'arrived' : 'failed'} while its conversation was merged is published for the merged conversation`, async () => {
    const w = await mediaWorld()
    const told: string[] = []
    w.db.subscribe(mediaTopic, (news) => told.push(news))
    const { id: survivor } = await w.customerWrites('Hello', { customer: { ...marina, phone: '5511930000099' } })
    const merge = async (response: ServerResponse) => {
      await w.db.sql`update media set conversation_id = ${survivor} where workspace_id = ${w.workspaceId}`
      response.writeHead(isThere ? 200 : 404).end(isThere ? png : '')
    }
    const id = await w.coming({ bytes: png, serve: merge })
    const fetcher = w.fetcher()
    for (let tries = 0; (await w.row(id)).state === 'coming' && tries < 5; tries++) {
      await fetcher.drain()
      w.clock.advance(3_600_000)
    }
    const [news] = told.map((one) => JSON.parse(one)).filter(({ mediaId }) => mediaId === id)
    assert.deepEqual([news?.conversationId, news?.state], [survivor, isThere ? 'here' : 'gone'])
  })
}

const nowhere = (response: ServerResponse) => response.writeHead(404).end()
const body = (response: ServerResponse) => response.end('other')
const endings: [
  what: string,
  file: Partial<PlatformFile>,
  told: object,
  tries: number,
  state: string,
  failure: string,
][] = [
  ['an unknown id', { describe: nowhere }, {}, 3, 'gone', 'http_404'],
  ['a URL that is always 404', { serve: nowhere }, {}, 3, 'gone', 'http_404'],
  ['a declared size above the limit', {}, { size: 2e9 }, 1, 'too_large', 'too_large'],
  ['an endless body', { serve: endless, metadata: { file_size: null } }, {}, 1, 'too_large', 'too_large'],
  ['a different size', { serve: body, metadata: { file_size: 6 } }, {}, 3, 'refused', 'size_mismatch'],
  ['a different digest', { metadata: { sha256: digestOf(png) } }, {}, 3, 'refused', 'hash_mismatch'],
  ['an empty file', { bytes: Buffer.alloc(0), metadata: { file_size: null } }, {}, 3, 'refused', 'empty'],
  ['a private address', { metadata: { url: 'http://10.0.0.1/a' } }, {}, 1, 'refused', 'forbidden_address'],
  ['an invalid id', {}, { source: { by: 'id', id: '../..' } }, 1, 'refused', 'invalid_id'],
  ['no source', {}, { source: undefined }, 1, 'refused', 'no_source'],
]

for (const [what, file, told, tries, state, failure] of endings) {
  test(`${what} ends the download after ${tries} tries, with nothing left in the store`, async () => {
    const w = await mediaWorld()
    const before = await w.stored()
    const id = await w.coming(file, told)
    const fetcher = w.fetcher()
    for (let n = 1; n <= tries; n++) {
      await fetcher.drain()
      const row = await w.row(id)
      assert.equal(row.tries, n)
      assert.equal(row.state, n < tries ? 'coming' : state, row.failure ?? '')
      w.clock.advance(20_000)
    }
    assert.partialDeepStrictEqual(await w.row(id), { state, failure, dueAt: null, storedAs: null, leaseUntil: null })
    assert.deepEqual(await w.stored(), before)
  })
}

test('an unavailable platform is retried for a week with growing delays; then a manual retry is possible', async () => {
  const w = await mediaWorld()
  let isAway = true
  const id = await w.coming({
    describe: (response) => {
      const url = `${w.server.baseUrl}/files/${[...w.files.keys()].at(-1)}`
      return isAway ? response.writeHead(503).end() : response.end(JSON.stringify({ url }))
    },
  })
  const fetcher = w.fetcher()
  const begun = w.clock.now().getTime()
  const pauses: number[] = []
  for (;;) {
    await fetcher.drain()
    const { state, dueAt } = await w.row(id)
    if (state !== 'coming' || dueAt === null) break
    pauses.push((dueAt.getTime() - w.clock.now().getTime()) / 1000)
    w.clock.set(dueAt)
  }
  assert.deepEqual(pauses.slice(0, 13), [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600])
  assert.equal(pauses.at(-1), 3600)
  assert.partialDeepStrictEqual(await w.row(id), { state: 'failed', failure: 'http_503', dueAt: null })
  const days = (w.clock.now().getTime() - begun) / 86_400_000
  assert.ok(days >= 7 && days < 7.1, `${days} days`)
  isAway = false
  assert.equal(await retryMedia(w, w.workspaceId, id), 'coming')
  await fetcher.drain()
  assert.equal((await w.row(id)).state, 'here')
  assert.equal(await retryMedia(w, w.workspaceId, id), 'here')
  const other = await mediaWorld()
  await assert.rejects(() => retryMedia(other, other.workspaceId, id), { statusCode: 404 })
})

test('rejected credentials make the connection unavailable, and the file waits', async () => {
  const w = await mediaWorld()
  const id = await w.coming({
    describe: (response) => response.writeHead(401).end(JSON.stringify({ error: { code: 190 } })),
  })
  await w.fetcher().drain()
  assert.partialDeepStrictEqual(await w.row(id), { state: 'coming', failure: '190' })
  const [connection] = await w.db.sql`
    select state, state_reason
    from connections
    where workspace_id = ${w.workspaceId}
      and id = ${w.connectionId}`
  assert.deepEqual({ ...connection }, { state: 'unavailable', state_reason: 'platform_error_190' })
})

test('a full store loses nothing: the file is downloaded once there is space', async () => {
  const w = await mediaWorld()
  const id = await w.coming({ bytes: png })
  const full = {
    ...w.media,
    put: async () => {
      throw new StoreError('full', 'The media folder is full')
    },
  }
  await w.fetcher({ store: full }).drain()
  assert.partialDeepStrictEqual(await w.row(id), { state: 'coming', failure: 'store_full' })
  assert.match(await w.metrics.render(), /^parley_files_total\{result="store_full"\} 1$/m)
  w.clock.advance(2_000)
  await w.fetcher().drain()
  assert.equal((await w.row(id)).state, 'here')
})

test('a stopping worker aborts its downloads and releases them', async () => {
  const w = await mediaWorld()
  const served = Promise.withResolvers<void>()
  const serve = (response: ServerResponse) => response.writeHead(200).write('some', () => served.resolve())
  const id = await w.coming({ serve })
  const fetcher = w.fetcher()
  fetcher.start()
  await w.db.tx(async (tx) => publishPendingMedia(tx, w.workspaceId))
  await served.promise
  await fetcher.stop()
  const { state, failure, leaseUntil, dueAt } = await w.row(id)
  assert.deepEqual([state, failure, leaseUntil], ['coming', 'stopped', null])
  assert.equal(dueAt?.getTime(), w.clock.now().getTime() + 1_000)
})

test('one workspace with many files neither takes all slots nor delays the others', async () => {
  const [many, few] = [await mediaWorld(), await mediaWorld()]
  const held: { name: string; response: ServerResponse }[] = []
  const order: string[] = []
  const platform = new EventEmitter()
  const serve = (name: string) => (response: ServerResponse) => {
    order.push(name)
    held.push({ name, response })
    platform.emit('asked')
  }
  const ids: string[] = []
  for (let n = 0; n < 20; n++) ids.push(await many.coming({ bytes: png, serve: serve('many') }))
  many.clock.advance(5)
  const ofFew = [
    await few.coming({ bytes: png, serve: serve('few') }),
    await few.coming({ bytes: png, serve: serve('few') }),
  ]
  const fetching = many.fetcher({ maxConcurrent: 4, perWorkspace: 2 }).drain()
  while (held.length < 4) await once(platform, 'asked')
  let most = 0
  for (let served = 0; served < 22; served++) {
    while (held.length === 0) await once(platform, 'asked')
    most = Math.max(most, held.filter(({ name }) => name === 'many').length)
    held.shift()?.response.end(png)
  }
  await fetching
  for (const id of ids) assert.equal((await many.row(id)).state, 'here')
  for (const id of ofFew) assert.equal((await few.row(id)).state, 'here')
  assert.equal(most, 2)
  assert.ok(order.lastIndexOf('few') < 4, order.join(' '))
})

test('two workers download each file once', async () => {
  const w = await mediaWorld()
  const ids: string[] = []
  for (let n = 0; n < 20; n++) ids.push(await w.coming({ bytes: png }))
  await Promise.all([w.fetcher().drain(), w.fetcher().drain()])
  for (const id of ids) assert.partialDeepStrictEqual(await w.row(id), { state: 'here', tries: 1 })
  assert.equal(w.server.asked.filter(({ line }) => line.startsWith('GET /files/')).length, ids.length)
})
