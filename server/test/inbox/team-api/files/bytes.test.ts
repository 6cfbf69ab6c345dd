import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type FilesWorld, filesWorld, png } from '../../../support/inbox/files-world.ts'
import { signedInMember } from '../../../support/member.ts'
import { testTeamToken } from '../../../support/world.ts'

const policy = "default-src 'none'; sandbox; frame-ancestors 'none'"

async function get(w: FilesWorld, mediaId: string, headers: Record<string, string> = {}, after = '') {
  const {
    statusCode,
    rawPayload,
    headers: answered,
  } = await w.app.inject({
    url: w.url(mediaId, after),
    headers: { cookie: w.member.cookie, ...headers },
  })
  return { status: statusCode, bytes: rawPayload, headers: answered }
}

test('a file is served whole or in ranges, with its detected type and nothing executable', async () => {
  const w = await filesWorld()
  const bytes = Buffer.concat([png, randomBytes(200_000)])
  const { mediaId } = await w.here(bytes, { name: 'a.png' })
  const whole = await get(w, mediaId)
  assert.equal(whole.status, 200)
  assert.ok(whole.bytes.equals(bytes))
  assert.partialDeepStrictEqual(whole.headers, {
    'content-type': 'image/png',
    'content-length': String(bytes.length),
    'content-disposition': `inline; filename="a.png"; filename*=UTF-8''a.png`,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'content-security-policy': policy,
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  })
  assert.equal(whole.headers['set-cookie'], undefined)
  for (const [start, end] of [
    [0, 1],
    [65_535, 65_537],
    [70_000, 150_000],
    [bytes.length - 1, bytes.length],
  ] as const) {
    const part = await get(w, mediaId, { range: `bytes=${start}-${end - 1}` })
    assert.equal(part.status, 206)
    assert.ok(part.bytes.equals(bytes.subarray(start, end)))
    assert.equal(part.headers['content-range'], `bytes ${start}-${end - 1}/${bytes.length}`)
    assert.equal(part.headers['content-length'], String(end - start))
  }
  const beyond = await get(w, mediaId, { range: `bytes=${bytes.length}-` })
  assert.deepEqual([beyond.status, beyond.headers['content-range']], [416, `bytes */${bytes.length}`])
  const several = await get(w, mediaId, { range: 'bytes=0-1,4-5' })
  assert.deepEqual([several.status, several.bytes.length], [200, bytes.length])
})

test('an unchanged file is 304, and ranges of two versions are never mixed', async () => {
  const w = await filesWorld()
  const { mediaId } = await w.here(png)
  const etag = String((await get(w, mediaId)).headers.etag)
  assert.match(etag, /^"[0-9a-f-]{36}"$/)
  for (const has of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const answer = await get(w, mediaId, { 'if-none-match': has })
    assert.deepEqual([answer.status, answer.bytes.length, answer.headers.etag], [304, 0, etag])
  }
  assert.equal((await get(w, mediaId, { 'if-none-match': '"other"' })).status, 200)
  const range = 'bytes=0-3'
  assert.equal((await get(w, mediaId, { range, 'if-range': etag })).status, 206)
  for (const other of ['"other"', `W/${etag}`, 'Tue, 10 Mar 2026 12:00:00 GMT']) {
    assert.equal((await get(w, mediaId, { range, 'if-range': other })).status, 200)
  }
})

test('HEAD returns the same without the bytes', async () => {
  const w = await filesWorld()
  const { mediaId } = await w.here(png)
  const head = async (headers = {}) =>
    w.app.inject({ method: 'HEAD', url: w.url(mediaId), headers: { cookie: w.member.cookie, ...headers } })
  const whole = await head()
  assert.deepEqual([whole.statusCode, whole.payload], [200, ''])
  assert.partialDeepStrictEqual(whole.headers, { 'content-length': String(png.length), 'content-type': 'image/png' })
  const part = await head({ range: 'bytes=1-2' })
  assert.deepEqual([part.statusCode, part.headers['content-length']], [206, '2'])
  assert.equal((await head({ range: 'bytes=9999-' })).statusCode, 416)
})

const script = '<script>alert(document.cookie)</script>'
const strange: [what: string, bytes: Buffer | string, told: { mimeType?: string; name?: string }][] = [
  [
    'an SVG with a script',
    `<svg xmlns="http://www.w3.org/2000/svg">${script}</svg>`,
    { mimeType: 'image/svg+xml', name: 'a.svg' },
  ],
  ['XML', `<?xml version="1.0"?><a>${script}</a>`, { mimeType: 'text/xml' }],
  ['an HTML page declared as a picture', `<html>${script}</html>`, { mimeType: 'image/png', name: 'a.png' }],
  ['an HTML page', `<!doctype html>${script}`, { mimeType: 'text/html', name: 'a.html' }],
  ['a script', 'alert(1)', { mimeType: 'text/javascript' }],
  ['an archive', Buffer.from('504b0304140000000000', 'hex'), { mimeType: 'image/jpeg' }],
]

test('executable content is a download with a neutral type', async () => {
  const w = await filesWorld()
  for (const [what, bytes, told] of strange) {
    const { mediaId } = await w.here(Buffer.from(bytes), told)
    const { status, headers } = await get(w, mediaId)
    assert.deepEqual([status, headers['content-type']], [200, 'application/octet-stream'], what)
    assert.match(String(headers['content-disposition']), /^attachment; /)
    assert.deepEqual([headers['x-content-type-options'], headers['content-security-policy']], ['nosniff', policy])
  }
})

test('a picture that is also an HTML page is served as a picture, with sniffing disabled', async () => {
  const w = await filesWorld()
  const gif = Buffer.concat([Buffer.from('GIF89a/*'), Buffer.from(`*/=1;${script}`)])
  const { mediaId } = await w.here(gif, { mimeType: 'text/html' })
  const { headers } = await get(w, mediaId)
  assert.equal(headers['content-type'], 'image/gif')
  assert.deepEqual([headers['x-content-type-options'], headers['content-security-policy']], ['nosniff', policy])
})

test('our pages can frame a PDF, sandboxed', async () => {
  const w = await filesWorld()
  const { mediaId } = await w.here(Buffer.from('%PDF-1.4\n%%EOF'), { mimeType: 'application/pdf', name: 'a.pdf' })
  const { headers } = await get(w, mediaId)
  assert.equal(headers['content-type'], 'application/pdf')
  assert.equal(headers['content-security-policy'], policy.replace(/'none'$/, "'self'"))
})

const names: [told: string | null, plain: string, full: string][] = [
  [null, 'image.png', 'image.png'],
  ['../../etc/passwd', 'passwd', 'passwd'],
  ['invoice\u202egnp.exe', 'invoicegnp.exe', 'invoicegnp.exe'],
  ['a"; filename="b.html', 'a__ filename__b.html', 'a_%3B%20filename%3D_b.html'],
  ['a\r\nset-cookie: x=1.txt', 'aset-cookie_ x_1.txt', 'aset-cookie_%20x%3D1.txt'],
  ['orçamento (1)’s.pdf', 'or_amento _1__s.pdf', 'or%C3%A7amento%20%281%29%E2%80%99s.pdf'],
  ['100%25.txt', '100_25.txt', '100%2525.txt'],
]

test('a file is saved under a safe name, whatever was declared', async () => {
  const w = await filesWorld()
  for (const [told, plain, full] of names) {
    const { mediaId } = await w.here(png, { name: told })
    const { headers } = await get(w, mediaId)
    assert.equal(headers['content-disposition'], `inline; filename="${plain}"; filename*=UTF-8''${full}`)
    assert.equal(headers['set-cookie'], undefined)
  }
})

test('a preview is served like its file, and is 404 without one', async () => {
  const w = await filesWorld()
  const preview = randomBytes(70_000)
  const { mediaId } = await w.here(png, { preview })
  const small = await get(w, mediaId, {}, '/preview')
  assert.equal(small.status, 200)
  assert.ok(small.bytes.equals(preview))
  assert.equal(small.headers['content-type'], 'image/webp')
  assert.notEqual(small.headers.etag, (await get(w, mediaId)).headers.etag)
  assert.equal((await get(w, mediaId, { range: 'bytes=0-9' }, '/preview')).bytes.length, 10)
  const other = await w.here(png)
  assert.equal((await get(w, other.mediaId, {}, '/preview')).status, 404)
})

test('only members of the workspace can read a file, with a session or a token', async () => {
  const [w, other] = [await filesWorld(), await filesWorld()]
  const { mediaId } = await w.here(png, { preview: png })
  const stranger = await signedInMember(other)
  const asked = async (url: string, headers: Record<string, string>) =>
    (await w.app.inject({ url, headers })).statusCode
  for (const after of ['', '/preview']) {
    const url = w.url(mediaId, after)
    assert.equal(await asked(url, {}), 401)
    assert.equal(await asked(url, { authorization: `Bearer ${w.key}` }), 401)
    assert.equal(await asked(url, { cookie: stranger.cookie }), 404)
    assert.equal(await asked(other.url(mediaId, after), { cookie: stranger.cookie }), 404)
    assert.equal(await asked(other.url(mediaId, after), { authorization: `Bearer ${testTeamToken}` }), 404)
    assert.equal(await asked(url, { authorization: `Bearer ${testTeamToken}` }), 200)
    assert.equal(await asked(url, { cookie: w.member.cookie }), 200)
  }
  assert.equal((await get(w, randomUUID())).status, 404)
  assert.equal((await get(w, 'nothing')).status, 400)
})

test('a file not yet downloaded is 404 with a reason', async () => {
  const w = await filesWorld()
  const { mediaId } = await w.coming()
  const { status, body } = await w.member.call('GET', w.path(mediaId))
  assert.deepEqual([status, body.data], [404, { state: 'coming' }])
})

test('a file missing in the store is an error before the response starts, and a tampered one is never sent', async () => {
  const w = await filesWorld()
  const { mediaId } = await w.here(png)
  const [row] = await w.db.sql<{ name: string }[]>`
    select stored_as as name from media where workspace_id = ${w.workspaceId} and id = ${mediaId}`
  assert.ok(row)
  await w.media.put(
    row.name,
    (async function* () {
      yield randomBytes(png.length + 16)
    })(),
  )
  assert.equal((await get(w, mediaId)).status, 500)
  await w.media.remove(row.name)
  assert.equal((await get(w, mediaId)).status, 404)
})
