import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import type { LightMyRequestResponse } from 'fastify'
import { solve } from '../../../../web/src/widget/sha256.ts'
import { adaptersOf } from '../../../src/app/inbox.ts'
import { type Answer, testApp, testTeamToken, type World, world } from '../../support/world.ts'

type Json = Answer['body']

export interface CallOptions {
  token?: string
  body?: object | Buffer
  headers?: Record<string, string>
  address?: string
}

let addresses = 0
export const freshAddress = (): string => `198.19.${++addresses >> 8}.${addresses % 256}`

export type WebsiteWorld = Awaited<ReturnType<typeof websiteWorld>>

/** Creates a workspace with a website, and what its widget and its team call. */
export async function websiteWorld(widget: object = {}) {
  await testApp((runtime) => ({
    website: adaptersOf({ ...runtime, config: { http: { publicUrl: '' } } } as never).website.connector,
  }))
  const w: World = await world({ scopes: ['inbox.read', 'inbox.write'] })
  const { app, workspaceId } = w
  const team = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<Answer> =>
    w.call(method, `/api/team/v1/workspaces/${workspaceId}${path}`, { key: testTeamToken, ...(body && { body }) })
  const connect = async (settings: object = widget): Promise<string> => {
    const { status, body } = await team('POST', '/connections', { channel: 'website', name: 'Shop', widget: settings })
    assert.equal(status, 201, JSON.stringify(body))
    return body.connection.id
  }
  const connectionId = await connect()
  const on =
    (id: string) =>
    (method: 'GET' | 'POST' | 'DELETE', path: string, options: CallOptions = {}): Promise<LightMyRequestResponse> => {
      const { token, body, headers = {}, address = '198.18.0.1' } = options
      const type = Buffer.isBuffer(body) ? 'application/octet-stream' : 'application/json'
      return app.inject({
        method,
        url: `/widget/v1/${id}/${path}`,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': type }),
          ...headers,
        },
        remoteAddress: address,
        ...(body !== undefined && { payload: body }),
      })
    }
  const visit = on(connectionId)
  /** Solves a challenge, as a browser does. */
  const solved = async (id = connectionId, address = freshAddress()) => {
    const { challenge, bits } = (await on(id)('POST', 'challenges', { address })).json()
    return { challenge, solution: await solve(challenge, bits) }
  }
  /** Starts the chat of an anonymous visitor; returns the session's token. */
  const begin = async (profile: object = {}, id = connectionId): Promise<string> => {
    const opened = await on(id)('POST', 'sessions', {
      body: { ...(await solved(id)), profile },
      address: freshAddress(),
    })
    assert.equal(opened.statusCode, 201, opened.body)
    return opened.json().token
  }
  const write = async (token: string, text: string, more: object = {}): Promise<LightMyRequestResponse> =>
    visit('POST', 'messages', { token, body: { clientId: randomUUID(), text, ...more } })
  const updates = async (token: string, query = ''): Promise<Json> => {
    const answer = await visit('GET', `updates${query}`, { token })
    assert.equal(answer.statusCode, 200, answer.body)
    return answer.json()
  }
  const conversations = async (): Promise<Json[]> =>
    (await w.call('GET', '/api/v1/inbox/conversations')).body.conversations
  const messages = async (id: string): Promise<Json[]> =>
    (await w.call('GET', `/api/v1/inbox/conversations/${id}/messages`)).body.messages
  /** Sends as a person of the team. */
  const answer = (id: string, message: object): Promise<Answer> =>
    w.call('POST', `/api/team/v1/workspaces/${workspaceId}/inbox/conversations/${id}/messages`, {
      key: testTeamToken,
      body: message,
      headers: { 'idempotency-key': randomUUID() },
    })
  return {
    ...w,
    team,
    connect,
    connectionId,
    on,
    visit,
    solved,
    begin,
    write,
    updates,
    conversations,
    messages,
    answer,
  }
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Signs a JWT as a site does. */
export function signed(claims: object, secret: string, head: object = { alg: 'HS256', typ: 'JWT' }): string {
  const text = `${part(head)}.${part(claims)}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}
