import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { App } from '../../../src/base/route.ts'
import { agentsWorld } from '../../support/agents/agents-world.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import { signedInMember } from '../../support/member.ts'

export const redirectUri = 'https://app.example.com/callback'
const ownMetadata = { client_name: 'Claude', redirect_uris: [redirectUri] }

// Each request comes from another address, so that only the tests of limits meet them.
let addresses = 0
const newAddress = () => `10.9.${Math.floor(++addresses / 250)}.${addresses % 250}`

/** Fields of tokens and errors. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and fail where one is wrong
export type Json = any

/** Creates a workspace with an admin who decides about programs, and plays a program by hand. */
export async function oauthWorld() {
  const w = await agentsWorld()
  const admin = await signedInMember(w, 'admin')
  const { publicUrl } = w.config.http

  const register = async (metadata: object = ownMetadata, remoteAddress = newAddress()) => {
    const reply = await w.app.inject({ method: 'POST', url: '/oauth/register', payload: metadata, remoteAddress })
    return { status: reply.statusCode, body: reply.json() as Json }
  }
  const post = async (url: string, form: Record<string, string>, headers: Record<string, string> = {}) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const payload = new URLSearchParams(form).toString()
    const remoteAddress = newAddress()
    const reply = await w.app.inject({ method: 'POST', url, headers: { ...type, ...headers }, payload, remoteAddress })
    return { status: reply.statusCode, body: reply.json() as Json, headers: reply.headers }
  }
  const grant = (request: object, settings: object = {}) =>
    admin.call('POST', '/oauth/grants', { request, name: 'Claude', scopes: ['inbox.read', 'leads.read'], ...settings })
  /** Registers a program and grants it access; returns what it needs to exchange its code. */
  const code = async (settings: object = {}) => {
    const { body } = await register()
    const { verifier, challenge } = pkce()
    const request = requestOf(body.client_id, challenge)
    const { status, body: granted } = await grant(request, settings)
    assert.equal(status, 200, JSON.stringify(granted))
    const answer = new URL(granted.redirectTo).searchParams
    const form = {
      ...{ grant_type: 'authorization_code', client_id: body.client_id as string, redirect_uri: redirectUri },
      ...{ code: answer.get('code') ?? '', code_verifier: verifier, resource: `${publicUrl}/mcp` },
    }
    return { form, request, answer }
  }
  /** Connects a program; returns its tokens. */
  const connect = async (settings: object = {}) => {
    const { form } = await code(settings)
    const { status, body } = await post('/oauth/token', form)
    assert.equal(status, 200, JSON.stringify(body))
    const { access_token, refresh_token } = body as { access_token: string; refresh_token: string }
    return { clientId: form.client_id, form, access_token, refresh_token }
  }
  const refresh = (clientId: string | undefined, token: string | undefined) =>
    post('/oauth/token', { grant_type: 'refresh_token', client_id: clientId ?? '', refresh_token: token ?? '' })
  /** Calls a tool at `/mcp`; returns the HTTP status. */
  const useToken = async (token: string | undefined, tool = 'who_am_i') => {
    const params = { name: tool, arguments: {} }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const { status, headers } = await w.call('POST', '/mcp', { key: token ?? '', body })
    return { status, challenge: String(headers['www-authenticate'] ?? '') }
  }
  /** Returns the key that the program got, as the team sees it. */
  const keys = async (): Promise<Json[]> =>
    (await admin.call('GET', '/keys')).body.keys.filter((key: Json) => key.oauth)
  return { ...w, admin, publicUrl, register, post, grant, code, connect, refresh, useToken, keys }
}

export type OAuthWorld = Awaited<ReturnType<typeof oauthWorld>>

export function pkce() {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

export const requestOf = (clientId: string, challenge: string) => ({
  ...{ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, state: 'abc' },
  ...{ code_challenge: challenge, code_challenge_method: 'S256' },
})

/** Returns a `fetch` that reaches the app at its public URL. */
export const fetchOf =
  (app: App): typeof fetch =>
  async (input, init = {}) => {
    const { pathname, search } = new URL(String(input))
    const reply = await app.inject({
      method: (init.method ?? 'GET') as 'GET',
      url: pathname + search,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(init.body == null ? {} : { payload: String(init.body) }),
    })
    const headers = Object.entries(reply.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    )
    const hasBody = ![204, 304].includes(reply.statusCode)
    return new Response(hasBody ? reply.body : null, { status: reply.statusCode, headers })
  }

/** A program that uses the official client: it keeps what the client stores, and where it sends the browser. */
export function program(settings: { clientMetadataUrl?: string } = {}) {
  const stored: Record<string, Json> = {}
  const provider: OAuthClientProvider = {
    ...settings,
    redirectUrl: redirectUri,
    clientMetadata: { client_name: 'Claude', redirect_uris: [redirectUri] },
    state: () => 'state-of-the-browser',
    clientInformation: () => stored.client,
    saveClientInformation: (client) => {
      stored.client = client
    },
    tokens: () => stored.tokens,
    saveTokens: (tokens) => {
      stored.tokens = tokens
    },
    redirectToAuthorization: (url) => {
      stored.sentTo = url
    },
    saveCodeVerifier: (verifier) => {
      stored.verifier = verifier
    },
    codeVerifier: () => stored.verifier,
    saveDiscoveryState: (state) => {
      stored.discovery = state
    },
    discoveryState: () => stored.discovery,
    invalidateCredentials: (what) => {
      if (what === 'tokens' || what === 'all') delete stored.tokens
    },
  }
  return { provider, stored }
}

export function transportOf(w: OAuthWorld, provider: OAuthClientProvider): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(`${w.publicUrl}/mcp`), {
    authProvider: provider,
    fetch: fetchOf(w.app),
  })
}

export const newClient = (): Client => {
  const client = new Client({ name: 'tests', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  atEnd(() => client.close())
  return client
}
