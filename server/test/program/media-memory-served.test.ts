import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bytesOf, change, payload, signatureOf } from '../support/channels/waba-payloads.ts'
import { atEnd } from '../support/file-end.ts'
import { newFolder } from '../support/folder.ts'
import { freePort, operatorToken, type Service, startService } from '../support/program/service.ts'
import { until } from '../support/until.ts'

const megabytes = Number(process.env.MEDIA_MEGABYTES ?? 10)
const files = 20
const mayGrowBy = 16_000_000
const appSecret = 'an-app-secret-of-16'
const numberId = '700100200'
const server = fileURLToPath(new URL('../support/media/serve-bytes.ts', import.meta.url))

test(`a service that fetches, serves and takes in ${files} files of ${megabytes} MB grows by 16 MB at most`, async (t) => {
  if (process.platform !== 'linux') return t.skip('There is no /proc')
  const platform = spawn(process.execPath, [server, String(megabytes)], { stdio: ['ignore', 'pipe', 'inherit'] })
  atEnd(async () => {
    platform.kill()
  })
  const [port] = await once(platform.stdout, 'data')
  const env = { PARLEY_ALLOW_CIDRS: '127.0.0.1/32' }
  const service = await startService({ folder: await newFolder(), port: await freePort(), env })
  const inbox = await inboxOf(service, `http://127.0.0.1:${String(port).trim()}`)
  // What the service itself takes to begin with is not to be counted.
  await inbox.fetchAll(1)
  await inbox.readAll(1)
  for (const id of await inbox.uploadAll(1)) await inbox.drop(id)

  for (const [what, work] of [
    ['fetched', () => inbox.fetchAll(megabytes)],
    ['read', () => inbox.readAll(megabytes)],
    ['taken in', () => inbox.uploadAll(megabytes)],
  ] as const) {
    const grown = await growthOf(service, work)
    assert.ok(grown <= mayGrowBy, `by ${grown} bytes while they are ${what}`)
    t.diagnostic(`${what}: ${(grown / 1e6).toFixed(1)} MB`)
  }
})

async function growthOf(service: Service, work: () => Promise<unknown>): Promise<number> {
  const memory = () => 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1])
  const before = memory()
  let most = before
  const looking = setInterval(() => {
    most = Math.max(most, memory())
  }, 5)
  await work()
  clearInterval(looking)
  return most - before
}

/** A workspace with a number, and one conversation that all files are of. */
async function inboxOf({ url }: Service, baseUrl: string) {
  const headers = { authorization: `Bearer ${operatorToken}` }
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, { ...init, headers: { ...headers, ...(init.headers as Record<string, string>) } })
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape; a test fails where one is wrong
  const json = async (path: string, body?: object): Promise<any> => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const answer = await ask(path, body === undefined ? {} : init)
    assert.ok(answer.ok, `${path}: ${answer.status}`)
    return answer.json()
  }
  const { workspace } = await json('/api/team/v1/workspaces', { name: 'Files' })
  const at = `/api/team/v1/workspaces/${workspace.id}`
  const settings = { accessToken: 'an-access-token-of-24-chars', appSecret, baseUrl }
  const { connection } = await json(`${at}/connections`, { channel: 'waba', name: 'Files', numberId, ...settings })
  let [told, conversation] = [0, '']
  const tell = async (of: number) => {
    const id = `file-${of}-${++told}`
    const item = { id: `wamid.${id}`, from: '442079460000', timestamp: String(Math.floor(Date.now() / 1000)) }
    const messages = [{ ...item, type: 'document', document: { id, mime_type: 'application/pdf', filename: id } }]
    const metadata = { display_phone_number: '4930123456', phone_number_id: numberId }
    const body = bytesOf(payload(change('messages', { messaging_product: 'whatsapp', metadata, messages })))
    const signed = { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf(appSecret, body) }
    const answer = await fetch(`${url}/channels/waba/${connection.id}/webhook`, {
      method: 'POST',
      headers: signed,
      body: body.toString(),
    })
    assert.equal(answer.status, 200)
  }
  const here = async (of: number): Promise<string[]> => {
    if (conversation === '') conversation = (await json(`${at}/inbox/conversations?view=all`)).conversations[0].id
    const { items } = await json(`${at}/inbox/conversations/${conversation}/media?kinds=document&limit=50`)
    return items
      .filter(
        ({ media }: { media: { state: string; bytes: number } }) => media.state === 'here' && media.bytes === of * 1e6,
      )
      .map(({ media }: { media: { id: string } }) => media.id)
  }
  return {
    fetchAll: async (of: number) => {
      for (let n = 0; n < files; n++) await tell(of)
      await until(async () => (await here(of)).length === files, 'all of them', 120_000)
    },
    readAll: async (of: number) => {
      const ids = await here(of)
      const counts = await Promise.all(ids.map(async (id) => countOf(await ask(`${at}/inbox/media/${id}`))))
      assert.deepEqual(new Set(counts), new Set([of * 1e6]))
    },
    uploadAll: (of: number) =>
      Promise.all(
        Array.from({ length: files }, async () => {
          const path = `${at}/inbox/conversations/${conversation}/uploads?kind=document&name=a.pdf&type=application/pdf`
          const init = { method: 'POST', body: ReadableStream.from(pdf(of * 1e6)), duplex: 'half' }
          const answer = await ask(path, init as RequestInit)
          assert.equal(answer.status, 201)
          return ((await answer.json()) as { id: string }).id
        }),
      ),
    drop: async (id: string) => {
      const answer = await ask(`${at}/inbox/conversations/${conversation}/uploads/${id}`, { method: 'DELETE' })
      assert.equal(answer.status, 204)
    },
  }
}

async function countOf({ body }: Response): Promise<number> {
  let count = 0
  for await (const piece of body ?? []) count += piece.length
  return count
}

function* pdf(bytes: number): Generator<Uint8Array> {
  const piece = Buffer.alloc(65_536, '%PDF-1.4 ')
  for (let at = 0; at < bytes; at += piece.length) yield piece.subarray(0, Math.min(piece.length, bytes - at))
}
