import type { ParleyOptions } from '../../../../client/src/call.ts'
import { Parley } from '../../../../client/src/parley.ts'
import type { NewKeyInput } from '../../../src/auth/api-keys/change-key.ts'
import { oncePerFile } from '../file-lifecycle.ts'
import { addAgent, type InboxWorld, inboxWorld } from '../inbox/inbox-world.ts'
import { testApp } from '../world.ts'

type Fetch = typeof fetch

export interface ClientWorld extends InboxWorld {
  url: string
  /** Key of `parley`; it gets new conversations. */
  agent: { id: string; value: string }
  parley: Parley
  /** Opens a client with other options; returns it with the pauses that it made. */
  open(options?: Partial<ParleyOptions>): { parley: Parley; pauses: number[] }
}

/** URL of this test file's service. */
export const serviceUrl = oncePerFile(async () => (await testApp()).app.listen({ host: '127.0.0.1', port: 0 }))

/** Creates a workspace, and a client that calls the service over HTTP. Pauses are recorded and end at once. */
export async function clientWorld(settings: Partial<NewKeyInput> = {}): Promise<ClientWorld> {
  const w = await inboxWorld()
  const url = await serviceUrl()
  const scopes = ['leads.read', 'leads.write', 'leads.delete', 'leads.bulk', 'inbox.read', 'inbox.write'] as const
  const agent = await addAgent(w, { scopes, ...settings })
  const open: ClientWorld['open'] = (options = {}) => {
    const pauses: number[] = []
    const pause = async (ms: number) => void pauses.push(ms)
    return { parley: new Parley({ baseUrl: url, apiKey: agent.value, pause, ...options }), pauses }
  }
  return { ...w, url, agent, open, parley: open().parley }
}

export interface SentRequest {
  method: string
  url: string
  headers: Record<string, string>
  body: string | undefined
}

/** Result of each request in turn; later requests succeed. */
export type RequestOutcome = 'reaches' | 'isLost' | 'answerIsLost' | Response

/** Network between client and service that records the client's requests. */
export function network(...fates: RequestOutcome[]): { fetch: Fetch; asked: SentRequest[] } {
  const asked: SentRequest[] = []
  const through: Fetch = async (url, init = {}) => {
    const { method = 'GET', headers, body } = init
    asked.push({
      method,
      url: String(url),
      headers: headers as Record<string, string>,
      body: body as string | undefined,
    })
    const fate = fates.shift() ?? 'reaches'
    if (fate instanceof Response) return fate
    if (fate === 'isLost') throw new TypeError('fetch failed')
    const answer = await fetch(url, init)
    if (fate === 'reaches') return answer
    await answer.text()
    throw new TypeError('terminated')
  }
  return { fetch: through, asked }
}

/** Returns an error response as the service sends it. */
export function refusal(statusCode: number, data: object = {}, headers: Record<string, string> = {}): Response {
  return Response.json({ statusCode, statusMessage: 'Refused', data }, { status: statusCode, headers })
}
