import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { S3Address } from '../../src/base/media-address.ts'
import { openS3Store } from '../../src/media/store/s3-store.ts'
import { type MediaStore, StoreError } from '../../src/media/store/store.ts'
import { atEnd, oncePerFile } from '../support/file-lifecycle.ts'
import { newS3Address, pieces, readAll, startS3 } from '../support/media/stores.ts'
import { freePort } from '../support/program/service.ts'

const strictServer = oncePerFile(() => startS3(true))

function opened(address: S3Address): MediaStore {
  const store = openS3Store(address)
  atEnd(() => store.close())
  return store
}

test('a server that checks signatures stores and returns files of one part and of several', async () => {
  const store = opened(await strictServer())
  const name = randomUUID()
  for (const size of [100, 6_000_000]) {
    const bytes = randomBytes(size)
    await store.put(name, pieces(bytes))
    assert.ok((await readAll(store, name)).equals(bytes))
    assert.ok((await readAll(store, name, 10, 90)).equals(bytes.subarray(10, 90)))
  }
  await store.remove(name)
})

test('errors for the operator contain no key', async () => {
  const address = await strictServer()
  const secret = 'a-secret-that-is-wrong'
  const cases: [changes: Partial<S3Address>, kind: string, words: RegExp][] = [
    [{ credentials: { accessKeyId: 'S3RVER', secretAccessKey: secret } }, 'refused', /AWS_SECRET_ACCESS_KEY/],
    [{ credentials: { accessKeyId: 'NOBODY', secretAccessKey: secret } }, 'refused', /AWS_ACCESS_KEY_ID/],
    [
      { bucket: 'no-such-bucket' },
      'refused',
      /no-such-bucket .* does not exist: create it, or correct PARLEY_MEDIA_URL/,
    ],
    [{ endpoint: `http://127.0.0.1:${await freePort()}` }, 'unreachable', /returned an unexpected error/],
  ]
  for (const [changes, kind, words] of cases) {
    const store = opened({ ...address, ...changes })
    for (const work of [() => store.put(randomUUID(), pieces(randomBytes(10))), () => store.readMark()]) {
      await assert.rejects(work, (error) => {
        assert.ok(error instanceof StoreError)
        assert.equal(error.kind, kind)
        assert.match(error.message, words)
        assert.doesNotMatch(error.message, /a-secret-that|NOBODY/)
        return true
      })
    }
  }
})

test('another prefix of the bucket is another store', async () => {
  const [one, other] = [opened(await newS3Address()), opened(await newS3Address())]
  const name = randomUUID()
  await one.put(name, pieces(Buffer.from('x')))
  assert.deepEqual(await other.list(null, 10), [])
  assert.equal(await other.readMark(), null)
  await other.remove(name)
  assert.deepEqual(await readAll(one, name), Buffer.from('x'))
})

test('a server that is busy or disconnects is retried, also in the middle of a file', async () => {
  const address = await newS3Address()
  const front = await stumblingFront(address)
  const store = opened({ ...address, endpoint: front.endpoint })
  const name = randomUUID()
  const bytes = randomBytes(11_000_000)
  await store.put(name, pieces(bytes))
  assert.ok((await readAll(store, name)).equals(bytes))
  assert.deepEqual(
    (await store.list(null, 10)).map((file) => file.name),
    [name],
  )
  await store.remove(name)
  assert.ok(front.stumbled() >= 6, `${front.stumbled()} requests had to be made again`)
})

/** A proxy that fails every other request with 503 or a disconnect. */
async function stumblingFront({ endpoint }: S3Address): Promise<{ endpoint: string; stumbled: () => number }> {
  let [seen, stumbled] = [0, 0]
  const server = createServer((incoming, outgoing) => {
    if (seen++ % 2 === 0) {
      if (stumbled++ % 2 === 0) outgoing.writeHead(503, { connection: 'close' }).end()
      else incoming.socket.destroy()
      return
    }
    const { method, headers, url } = incoming
    const onward = request(new URL(url ?? '/', endpoint ?? ''), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { endpoint: `http://127.0.0.1:${port}`, stumbled: () => stumbled }
}
