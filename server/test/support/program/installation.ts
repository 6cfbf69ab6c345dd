import assert from 'node:assert/strict'
import { newFolder } from '../folder.ts'
import { freePort, operatorToken, type Service, startService } from './service.ts'

const demo = { PARLEY_DEMO: '1', PARLEY_SIMULATOR: '1' }

export interface Installed {
  folder: string
  port: number
  env: Record<string, string>
}

/** An installation with the demo, which has chats and files. */
export async function installed(): Promise<Installed> {
  const env = { ...demo, PARLEY_SIMULATOR_PORT: String(await freePort()) }
  return { folder: await newFolder(), port: await freePort(), env }
}

export async function started(at: Installed): Promise<Service> {
  const service = await startService(at)
  await service.hasTold('Stop with Ctrl+C.')
  return service
}

interface Acknowledged {
  code: string
  at: number
}

/** Writes leads until it is stopped, and knows of each when it was acknowledged. */
export function keepWriting(url: string, key: string, name = 'ana') {
  const acknowledged: Acknowledged[] = []
  let isStopped = false
  const write = async (writer: number) => {
    for (let n = 0; !isStopped; n++) {
      const email = `${name}${writer}-${n}@example.com`
      const body = JSON.stringify({ firstName: 'Ana', email, notes: 'x'.repeat(800) })
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const reply = await fetch(`${url}/api/v1/leads`, { method: 'POST', headers, body })
      assert.equal(reply.status, 201)
      const { data } = (await reply.json()) as { data: { uniqueCode: string } }
      acknowledged.push({ code: data.uniqueCode, at: Date.now() })
    }
  }
  const writers = [1, 2, 3].map(write)
  return {
    acknowledged,
    /** Resolves once so many more are acknowledged. */
    more: async (count: number) => {
      const until = acknowledged.length + count
      while (acknowledged.length < until) await Promise.race([new Promise(setImmediate), ...writers])
    },
    stop: async () => {
      isStopped = true
      await Promise.all(writers)
    },
  }
}

export async function ask(url: string, token: string, path: string): Promise<{ status: number; text: string }> {
  const reply = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })
  return { status: reply.status, text: await reply.text() }
}

/** Every file that a conversation of the demo shows comes back as it was. */
export async function readsEveryFile(url: string): Promise<void> {
  const team = async (path: string) => JSON.parse((await ask(url, operatorToken, `/api/team/v1${path}`)).text)
  const { workspaces } = await team('/workspaces')
  let read = 0
  for (const { id } of workspaces) {
    const at = `/workspaces/${id}/inbox`
    const { conversations } = await team(`${at}/conversations`)
    for (const conversation of conversations) {
      const { items } = await team(`${at}/conversations/${conversation.id}/media?limit=50`)
      for (const { media } of items) {
        if (media.state !== 'here') continue
        const { status } = await ask(url, operatorToken, `/api/team/v1${at}/media/${media.id}`)
        assert.equal(status, 200)
        read++
      }
    }
  }
  assert.ok(read > 0)
}
