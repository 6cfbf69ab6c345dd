import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { createLog } from '../../../../src/base/log.ts'
import type { ReadableFile } from '../../../../src/inbox/media/media-queries.ts'
import { sendFile } from '../../../../src/inbox/team-api/files/send-file.ts'
import { encryptFile } from '../../../../src/media/encrypted-file.ts'
import type { MediaStore } from '../../../../src/media/store/store.ts'
import { oncePerFile } from '../../../support/file-lifecycle.ts'
import { testServer } from '../../../support/http.ts'
import { type FilesWorld, filesWorld } from '../../../support/inbox/files-world.ts'
import { signedInMember, type TestMember } from '../../../support/member.ts'
import { until } from '../../../support/until.ts'
import { listen } from '../../../support/wire/raw-http.ts'

/** More than the socket buffers of both sides hold. */
const manyBytes = 16 * 1024 * 1024

const listening = oncePerFile(async () => listen((await filesWorld()).app))

async function ask(port: number, path: string, cookie: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\n\r\n`)
  return socket
}

/** Reads the head of the response, then nothing more. */
async function headOf(socket: Socket): Promise<string> {
  const [first] = await once(socket, 'data')
  socket.pause()
  return String(first).split('\r\n\r\n')[0] ?? ''
}

/** Returns the number of bytes received until the other side closes. */
async function rest(socket: Socket): Promise<number> {
  let size = 0
  socket.on('data', (piece: Buffer) => {
    size += piece.length
  })
  socket.resume()
  if (!socket.destroyed) await once(socket, 'close')
  return size
}

async function storeOf(bytes: Buffer) {
  const id = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
  const { key, stored } = encryptFile(id, [bytes] as unknown as AsyncIterable<Uint8Array>)
  const sealed: Buffer[] = []
  for await (const piece of stored) sealed.push(Buffer.from(piece))
  let read = 0
  let isClosed = false
  const open: MediaStore['open'] = async () =>
    (async function* () {
      try {
        for (const piece of sealed) {
          read += piece.length
          yield piece
        }
      } finally {
        isClosed = true
      }
    })()
  const secret = { id, key, bytes: bytes.length }
  const file: ReadableFile = { secret, kind: 'video', type: 'video/mp4', isInline: true, name: null }
  return { file, store: { open } as MediaStore, read: () => read, isClosed: () => isClosed }
}

test('for a stalled reader no more is read than they take, and the connection is closed after a while', async () => {
  const { file, store, read, isClosed } = await storeOf(randomBytes(manyBytes))
  const { app } = testServer()
  const log = createLog('debug', { write: () => {} })
  app.get('/file', (request, reply) =>
    sendFile({ store, log, isStillAllowed: async () => true, stallMs: 200 }, file, request, reply),
  )
  const socket = await ask(await listen(app), '/file', '')
  assert.match(await headOf(socket), /^HTTP\/1\.1 200 /)
  await until(isClosed, 'the end of the reading')
  assert.ok(read() < manyBytes, `${read()} bytes were read`)
  assert.ok((await rest(socket)) < manyBytes)
  await app.close()
})

async function largeFile(): Promise<{ w: FilesWorld; port: number; path: string }> {
  const w = await filesWorld()
  const { mediaId } = await w.here(randomBytes(manyBytes), { kind: 'video' })
  return { w, port: await listening(), path: w.url(mediaId) }
}

const endings: [what: string, end: (w: FilesWorld, member: TestMember) => Promise<unknown>][] = [
  [
    'is removed from the workspace',
    ({ db, workspaceId }, { userId }) =>
      db.sql`delete from members where workspace_id = ${workspaceId} and user_id = ${userId}`,
  ],
  ['signs out', ({ db }, { userId }) => db.sql`delete from sessions where user_id = ${userId}`],
]

for (const [what, end] of endings) {
  test(`a member who ${what} during a download gets no more of it`, async () => {
    const { w, port, path } = await largeFile()
    const socket = await ask(port, path, w.member.cookie)
    assert.match(await headOf(socket), /^HTTP\/1\.1 200 /)
    await end(w, w.member)
    w.clock.advance(10_000)
    assert.ok((await rest(socket)) < manyBytes)
  })
}

test('of 1,000 slow readers few are served at a time, and colleagues can still read', async () => {
  const { w, port, path } = await largeFile()
  const [sockets, heads]: [Socket[], string[]] = [[], []]
  // In batches smaller than the wait budget of the database: more would be rejected with 503.
  while (sockets.length < 1_000) {
    const more = await Promise.all(Array.from({ length: 250 }, () => ask(port, path, w.member.cookie)))
    for (const socket of more)
      void headOf(socket).then(
        (head) => heads.push(head.slice(0, 12)),
        () => {},
      )
    sockets.push(...more)
    await until(() => heads.length === sockets.length - 128, 'the answers')
  }
  const refused = () => heads.filter((head) => head === 'HTTP/1.1 429').length
  const served = () => heads.filter((head) => head === 'HTTP/1.1 200').length
  assert.deepEqual([served(), refused()], [16, 1_000 - 128 - 16])
  const colleague = await signedInMember(w)
  const theirs = await ask(port, path, colleague.cookie)
  assert.match(await headOf(theirs), /^HTTP\/1\.1 200 /)
  for (const socket of [...sockets, theirs]) socket.destroy()
  const again = async () => {
    const socket = await ask(port, path, w.member.cookie)
    const head = await headOf(socket)
    socket.destroy()
    return head.startsWith('HTTP/1.1 200')
  }
  await until(again, 'room after they left')
})
