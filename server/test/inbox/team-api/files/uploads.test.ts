import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { fetchDeps } from '../../../../src/app/inbox.ts'
import { deleteAbandonedUploads, receiveUpload } from '../../../../src/inbox/media/uploads.ts'
import { oncePerFile } from '../../../support/file-lifecycle.ts'
import { type FilesWorld, filesWorld, png } from '../../../support/inbox/files-world.ts'
import { signedInMember, type TestMember } from '../../../support/member.ts'
import { listen } from '../../../support/wire/raw-http.ts'

async function uploadWorld() {
  const w = await filesWorld()
  const { id } = await w.customerWrites('Hi')
  const url = `/api/team/v1/workspaces/${w.workspaceId}/inbox/conversations/${id}`
  const upload = async (
    query: string,
    bytes: Buffer | string,
    { by = w.member, headers = {} }: { by?: TestMember; headers?: Record<string, string> } = {},
  ) => {
    const {
      statusCode: status,
      headers: answered,
      ...answer
    } = await w.app.inject({
      method: 'POST',
      url: `${url}/uploads?${query}`,
      headers: { ...by.headers, 'content-type': 'application/octet-stream', ...headers },
      payload: bytes,
    })
    return { status, body: answer.json(), headers: answered }
  }
  const remove = async (uploadId: string, by = w.member, path = url) =>
    (await w.app.inject({ method: 'DELETE', url: `${path}/uploads/${uploadId}`, headers: by.headers })).statusCode
  return { w, id, url, upload, remove }
}

const stored = async (w: FilesWorld) => (await w.media.list(null, 1_000)).map(({ name }) => name)
const rows = async ({ db, workspaceId }: FilesWorld) =>
  db.sql`select * from media where workspace_id = ${workspaceId} and message_id is null`

test('an upload is stored before its message: checked, encrypted, with its size, visible only to its uploader', async () => {
  const { w, id, upload } = await uploadWorld()
  const { status, body } = await upload('kind=image&name=..%2F%E2%80%AEgnp.png&type=text/html', png)
  assert.equal(status, 201, JSON.stringify(body))
  const expiresAt = new Date(w.clock.now().getTime() + 86_400_000).toISOString()
  // On a busy machine the decoder may time out: then there is neither preview nor size.
  const isInTime = !w.logLines.some((line) => line.includes('thumbnail generation failed'))
  const size = isInTime ? 1 : null
  const told = {
    kind: 'image',
    name: 'gnp.png',
    type: 'image/png',
    bytes: png.length,
    width: size,
    height: size,
    expiresAt,
  }
  assert.deepEqual(body, { id: body.id, ...told })
  const [row, ...others] = await rows(w)
  assert.equal(others.length, 0)
  assert.partialDeepStrictEqual(row, {
    id: body.id,
    conversation_id: id,
    connection_id: w.connectionId,
    direction: 'outbound',
    state: 'here',
    created_by_type: 'user',
    created_by: w.member.userId,
    due_at: null,
  })
  const read = (by: TestMember, after = '') =>
    w.app.inject({ url: w.url(body.id, after), headers: { cookie: by.cookie } })
  assert.ok((await read(w.member)).rawPayload.equals(png))
  const preview = await read(w.member, '/preview')
  if (isInTime) assert.equal(preview.headers['content-type'], 'image/webp')
  else assert.equal(preview.statusCode, 404)
  assert.equal((await read(await signedInMember(w))).statusCode, 404)
  assert.equal(
    (await w.app.inject({ method: 'POST', url: w.url(body.id, '/retry'), headers: w.member.headers })).statusCode,
    404,
  )
})

test('a picture whose preview times out is accepted without preview and size', async () => {
  const { w, id } = await uploadWorld()
  const deps = fetchDeps(w, { create: async () => null, close: async () => {} })
  const unknown = { name: null, type: null, seconds: null, waveform: null, length: null }
  const scope = { workspaceId: w.workspaceId, connectionIds: [] }
  const upload = { conversationId: id, kind: 'image', ...unknown, bytes: Readable.from([png]) } as const
  const taken = await receiveUpload(deps, scope, { type: 'user', id: w.member.userId }, upload)
  assert.deepEqual([taken.type, taken.width, taken.height], ['image/png', null, null])
  const preview = await w.app.inject({ url: w.url(taken.id, '/preview'), headers: w.member.headers })
  assert.equal(preview.statusCode, 404)
})

test('a voice note keeps its length and waveform', async () => {
  const { w, upload } = await uploadWorld()
  const ogg = Buffer.concat([Buffer.from('OggS'), Buffer.alloc(24), Buffer.from('OpusHead'), Buffer.alloc(60)])
  const { status, body } = await upload('kind=voice&seconds=2.5&waveform=0,50,100', ogg)
  assert.deepEqual([status, body.type], [201, 'audio/ogg'])
  const [row] = await rows(w)
  assert.ok(row)
  assert.equal((await upload('kind=voice&waveform=0,101', ogg)).status, 400)
  assert.equal((await upload('kind=voice&waveform=1;2', ogg)).status, 400)
})

const refused: [what: string, query: string, bytes: Buffer | string, status: number][] = [
  ['nothing', 'kind=image', '', 400],
  ['an unknown kind', 'kind=program', png, 400],
  ['no kind', 'name=a', png, 400],
  ['an SVG with a script', 'kind=image&type=image/svg%2Bxml', '<svg><script>alert(1)</script></svg>', 415],
  ['an HTML page declared as a picture', 'kind=image&type=image/png', '<html></html>', 415],
  ['an HTML page as a document', 'kind=document&type=text/html&name=a.html', '<html></html>', 415],
  ['a program declared as text', 'kind=document&type=text/plain', Buffer.from('MZ\0\0'), 415],
  ['a PDF as a picture', 'kind=image', '%PDF-1.7\n', 415],
  ['a picture above 5 MB', 'kind=image', Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024)]), 413],
]

test('a file that cannot be sent is refused and leaves nothing', async () => {
  const { w, upload } = await uploadWorld()
  const before = await stored(w)
  for (const [what, query, bytes, expected] of refused) {
    const { status, body } = await upload(query, bytes)
    assert.equal(status, expected, `${what}: ${JSON.stringify(body)}`)
    assert.deepEqual([await stored(w), (await rows(w)).length], [before, 0])
  }
})

test("upload limits are those of the conversation's channel", async () => {
  const { w, id } = await uploadWorld()
  const { status, body } = await w.member.call('GET', `/inbox/conversations/${id}/upload-limits`)
  assert.equal(status, 200)
  assert.deepEqual(body.kinds[0], { kind: 'image', bytes: 5 * 1024 * 1024, types: ['image/jpeg', 'image/png'] })
  assert.deepEqual([body.kinds.length, body.captionLength, body.canReact, body.canQuote], [6, 1024, true, true])
})

test('a member has at most 20 uploads, even concurrently; deleting one makes room', async () => {
  const { w, upload, remove } = await uploadWorld()
  const answers = await Promise.all(Array.from({ length: 25 }, () => upload('kind=document&type=text/plain', 'a text')))
  const ids = answers.flatMap(({ status, body }) => (status === 201 ? [body.id] : []))
  const others = answers.filter(({ status }) => status !== 201)
  assert.deepEqual([ids.length, (await rows(w)).length], [20, 20])
  for (const { status, body } of others) assert.deepEqual([status, body.data], [409, { code: 'TOO_MANY_UPLOADS' }])
  const colleague = await signedInMember(w)
  assert.equal((await upload('kind=image', png, { by: colleague })).status, 201)
  assert.equal(await remove(ids[0] ?? ''), 204)
  assert.equal((await upload('kind=image', png)).status, 201)
})

test('the uploads of a workspace take at most 2 GiB', async () => {
  const { w, upload } = await uploadWorld()
  assert.equal((await upload('kind=image', png, { by: await signedInMember(w) })).status, 201)
  await w.db.sql`update media set size_bytes = ${2 * 1024 ** 3} where workspace_id = ${w.workspaceId}`
  const { status, body } = await upload('kind=image', png)
  assert.deepEqual([status, body.data], [409, { code: 'NO_ROOM' }])
})

test('only the uploader can delete an upload, only before it is sent, with all its stored data', async () => {
  const { w, url, upload, remove } = await uploadWorld()
  const before = await stored(w)
  const { body } = await upload('kind=image', png)
  const other = await uploadWorld()
  assert.equal(await remove(body.id, await signedInMember(w)), 404)
  assert.equal(await remove(body.id, other.w.member), 404)
  assert.equal(await remove(body.id, other.w.member, other.url), 404)
  assert.equal(await remove(body.id, w.member, url.replace(/[^/]+$/, body.id)), 404)
  assert.equal(await remove(body.id), 204)
  assert.deepEqual([(await stored(w)).length, (await rows(w)).length], [before.length, 0])
  assert.equal(await remove(body.id), 404)
  const { body: taken } = await upload('kind=image', png)
  await w.db.sql`update media set message_id = ${taken.id} where workspace_id = ${w.workspaceId} and id = ${taken.id}`
  assert.equal(await remove(taken.id), 404)
})

test('an unsent upload is deleted after a day, a sent one stays', async () => {
  const { w, upload } = await uploadWorld()
  const [{ body: left }, { body: taken }] = [await upload('kind=image', png), await upload('kind=image', png)]
  await w.db.sql`update media set message_id = ${taken.id} where workspace_id = ${w.workspaceId} and id = ${taken.id}`
  w.clock.advance(86_000_000)
  await deleteAbandonedUploads(w)
  assert.deepEqual(
    (await rows(w)).map(({ id }) => id),
    [left.id],
  )
  w.clock.advance(4_400_000)
  assert.ok((await deleteAbandonedUploads(w)) >= 1)
  assert.equal((await rows(w)).length, 0)
})

test('uploads into another workspace’s conversation are refused', async () => {
  const [{ w, upload }, other] = [await uploadWorld(), await uploadWorld()]
  assert.equal((await upload('kind=image', png, { by: other.w.member })).status, 404)
  const url = other.url.replace(other.w.workspaceId, w.workspaceId)
  const headers = { ...w.member.headers, 'content-type': 'image/png' }
  const answer = await w.app.inject({ method: 'POST', url: `${url}/uploads?kind=image`, headers, payload: png })
  assert.equal(answer.statusCode, 404)
  const forged = { cookie: w.member.cookie, 'content-type': 'image/png' }
  const crossSite = await w.app.inject({
    method: 'POST',
    url: `${other.url}/uploads?kind=image`,
    headers: forged,
    payload: png,
  })
  assert.equal(crossSite.statusCode, 403)
})

const listening = oncePerFile(async () => listen((await filesWorld()).app))

/** Opens a connection, sends the head of an upload, and collects the response. */
async function connected({ w, url }: Awaited<ReturnType<typeof uploadWorld>>) {
  const socket = connect(await listening(), '127.0.0.1')
  const failed: Error[] = []
  socket.on('error', (error) => failed.push(error))
  await once(socket, 'connect')
  let answer = ''
  socket.on('data', (piece) => {
    answer += piece.toString('latin1')
  })
  /** Resolves with the response once it matches, or the connection is closed. */
  const answered = async (shape: RegExp) => {
    while (!shape.test(answer) && !socket.closed) await Promise.race([once(socket, 'data'), once(socket, 'close')])
    return answer
  }
  const headers = { ...w.member.headers, host: 'localhost', 'content-type': 'image/png' }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = (length: string) => `POST ${url}/uploads?kind=image HTTP/1.1\r\n${lines.join('')}${length}\r\n\r\n`
  return { socket, failed, head, answer: () => answer, answered }
}

async function begin(world: Awaited<ReturnType<typeof uploadWorld>>, length: string) {
  const connection = await connected(world)
  connection.socket.write(connection.head(length))
  return connection
}

test('a length above the limit is refused before any byte is read', async () => {
  const world = await uploadWorld()
  const { socket, answered } = await begin(world, `content-length: ${200 * 1024 * 1024}`)
  const answer = await answered(/\r\n\r\n\{/)
  assert.match(answer, /^HTTP\/1\.1 413 /)
  assert.match(answer, /"maxBytes":5242880/)
  socket.destroy()
})

test('an endless body is cut off at the limit', async () => {
  const world = await uploadWorld()
  const before = await stored(world.w)
  const { socket, answer } = await begin(world, 'transfer-encoding: chunked')
  const piece = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 1), Buffer.from('\r\n')])
  let sent = 0
  while (!answer().includes('\r\n\r\n{') && !socket.destroyed && sent < 400) {
    sent++
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {})
  }
  assert.ok(sent < 400, `${sent} pieces were taken`)
  assert.deepEqual([(await stored(world.w)).length, (await rows(world.w)).length], [before.length, 0])
  socket.destroy()
})

test('an interrupted upload leaves nothing', async () => {
  const world = await uploadWorld()
  const before = await stored(world.w)
  const isLogged = Promise.withResolvers<void>()
  const lines = world.w.logLines
  lines.push = (...more) => {
    if (more.some((line) => line.includes('/uploads'))) isLogged.resolve()
    return Array.prototype.push.apply(lines, more)
  }
  const { socket } = await begin(world, 'content-length: 200000')
  socket.write(Buffer.concat([png, Buffer.alloc(90_000)]))
  socket.destroy()
  await isLogged.promise
  assert.deepEqual([(await stored(world.w)).length, (await rows(world.w)).length], [before.length, 0])
})
