import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { atEnd, oncePerFile } from '../file-lifecycle.ts'
import type { TestApp } from '../world.ts'

/** `modern` is the protocol revision of 2026; `legacy` are the earlier ones, which begin with a handshake. */
export type Era = 'modern' | 'legacy'
export const eras: readonly Era[] = ['modern', 'legacy']

/** URL of the test file's app. */
export const listening = oncePerFile(({ app }: TestApp) => app.listen({ host: '127.0.0.1', port: 0 }))

/** Connects the official client to the app over HTTP with a key. */
export async function mcpClient(test: TestApp, key: string, era: Era = 'modern'): Promise<Client> {
  const url = await listening(test)
  return connected(era, (client) => client.connect(overHttp(url, key)))
}

export const overHttp = (url: string, key: string) =>
  new StreamableHTTPClientTransport(new URL('/mcp', url), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  })

export async function connected(era: Era, connect: (client: Client) => Promise<void>): Promise<Client> {
  const client = new Client(
    { name: 'tests', version: '1.0.0' },
    { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
  )
  await connect(client)
  atEnd(() => client.close())
  return client
}

/** Parses the text of a tool's answer as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and fail where one is wrong
export function textOf(answer: { content: readonly object[] }): any {
  const [first] = answer.content
  if (first === undefined || !('text' in first)) throw new Error('The answer has no text')
  return JSON.parse(String(first.text))
}

/** Returns functions that call tools of the client; `read` returns the parsed text of the answer. */
export const toolCaller =
  (client: Client) =>
  async (name: string, input: Record<string, unknown> = {}) => {
    const answer = await client.callTool({ name, arguments: input })
    return { ...answer, read: textOf(answer) }
  }
