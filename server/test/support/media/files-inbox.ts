import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Loose } from '../channels/rigs.ts'
import { bytesOf, callback, signatureOf } from '../channels/waba-payloads.ts'
import { atEnd } from '../file-lifecycle.ts'
import { operatorToken, type Service } from '../program/service.ts'

const appSecret = 'an-app-secret-of-16'
const numberId = '700100200'

const server = fileURLToPath(new URL('./serve-bytes.ts', import.meta.url))

export type FilesInbox = Awaited<ReturnType<typeof filesInbox>>

/** Starts a platform in a separate process; returns its URL. */
export async function startFilePlatform(): Promise<string> {
  const platform = spawn(process.execPath, [server, '1'], { stdio: ['ignore', 'pipe', 'inherit'] })
  atEnd(async () => {
    platform.kill()
  })
  const [port] = await once(platform.stdout, 'data')
  return `http://127.0.0.1:${String(port).trim()}`
}

/** Creates a workspace with a number at this platform and files of one conversation; sizes are in megabytes. */
export async function filesInbox({ url }: Service, baseUrl: string) {
  const headers = { authorization: `Bearer ${operatorToken}` }
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, { ...init, headers: { ...headers, ...(init.headers as Record<string, string>) } })
  const json = async (path: string, body?: object): Promise<Loose> => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const answer = await ask(path, body === undefined ? {} : init)
    assert.ok(answer.ok, `${path}: ${answer.status}`)
    return answer.json()
  }
  const { workspace } = await json('/api/team/v1/workspaces', { name: 'Files' })
  const at = `/api/team/v1/workspaces/${workspace.id}`
  const settings = { accessToken: 'an-access-token-of-24-chars', appSecret, baseUrl }
  const { connection } = await json(`${at}/connections`, { channel: 'waba', name: 'Files', numberId, ...settings })
  let [sentCount, conversation] = [0, '']
  /** Makes the platform send a message with a file. */
  const sendFileMessage = async (of: number) => {
    const id = `file-${of}-${++sentCount}`
    const item = { id: `wamid.${id}`, from: '442079460000', timestamp: String(Math.floor(Date.now() / 1000)) }
    const messages = [{ ...item, type: 'document', document: { id, mime_type: 'application/pdf', filename: id } }]
    const metadata = { display_phone_number: '4930123456', phone_number_id: numberId }
    const body = bytesOf(callback('messages', { metadata, messages, contacts: undefined }))
    const signed = { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf(appSecret, body) }
    const path = `${url}/channels/waba/${connection.id}/webhook`
    const answer = await fetch(path, { method: 'POST', headers: signed, body: body.toString() })
    assert.equal(answer.status, 200)
  }
  /** Returns the files of this size that have been fetched. */
  const fetchedFiles = async (of: number): Promise<string[]> => {
    if (conversation === '') conversation = (await json(`${at}/inbox/conversations?view=all`)).conversations[0].id
    const { items } = await json(`${at}/inbox/conversations/${conversation}/media?kinds=document&limit=50`)
    const isIt = ({ media }: Loose) => media.state === 'here' && media.bytes === of * 1e6
    return items.filter(isIt).map(({ media }: Loose) => media.id)
  }
  return {
    sendFileMessage,
    fetchedFiles,
    read: async (id: string) => {
      const answer = await ask(`${at}/inbox/media/${id}`)
      return { status: answer.status, bytes: await countOf(answer) }
    },
    upload: async (of: number) => {
      const path = `${at}/inbox/conversations/${conversation}/uploads?kind=document&name=a.pdf&type=application/pdf`
      const init = { method: 'POST', body: ReadableStream.from(pdf(of * 1e6)), duplex: 'half' }
      const answer = await ask(path, init as RequestInit)
      return { status: answer.status, id: ((await answer.json()) as { id: string }).id }
    },
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
