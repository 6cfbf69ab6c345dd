import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { LightMyRequestResponse } from 'fastify'
import { systemClock } from '../../../src/base/clock.ts'
import { mailerFor } from '../../mail/mail-world.ts'
import { startNode } from '../../support/events/feed-world.ts'
import { cookieOf, operatorToken, publicUrl, sessionIn, teamWorld } from '../../support/team-app.ts'
import { type Account, clientId, clientSecret, startProvider } from './fake-provider.ts'

export type SsoWorld = Awaited<ReturnType<typeof ssoWorld>>

/** Settings of a provider without the fields that only some tests set. */
export type Settings = Partial<Record<'domains' | 'access' | 'breakGlass', unknown[]>> & Record<string, unknown>

/**
 * Starts the service twice, on the time of the provider, which signs tokens by the clock of the machine. Each test has
 * people and domains of its own.
 */
export async function ssoWorld() {
  const w = await teamWorld()
  const node = await startNode(w, { wallClock: systemClock, mailer: mailerFor('smtp://127.0.0.1:9') })
  const other = await startNode(w, { wallClock: systemClock })
  const providerId = randomUUID()
  const fake = await startProvider([`${publicUrl}/sso/${providerId}/callback`], `${node.url}/sso/${providerId}/logout`)
  const { app } = node

  const call = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object) => {
    const headers = { authorization: `Bearer ${operatorToken}` }
    const payload = body === undefined ? {} : { payload: body }
    const reply = await app.inject({ method, url: `/api/team/v1/identity-providers${path}`, headers, ...payload })
    return { status: reply.statusCode, body: reply.json() }
  }
  const settingsWith = (changes: Settings) => ({
    ...{ name: 'Acme', issuer: fake.issuer, clientId, clientSecret, domains: [], linksByEmail: false },
    ...{ createsPeople: true, groupsClaim: 'groups', access: [], breakGlass: [], isEnabled: true },
    ...changes,
  })
  /** Saves the provider with these settings. */
  const configure = async (changes: Settings = {}) => {
    const { status, body } = await call('PUT', `/${providerId}`, settingsWith(changes))
    assert.equal(status, 200, JSON.stringify(body))
    return body.provider
  }
  /** Opens the start of a sign-in; returns where it leads and the cookie that the browser keeps. */
  const start = async (next = '') => {
    const reply = await app.inject({
      url: `/sso/${providerId}${next === '' ? '' : `?next=${encodeURIComponent(next)}`}`,
    })
    assert.equal(reply.statusCode, 303)
    return { url: String(reply.headers.location), cookie: attemptIn(reply) }
  }
  /** Opens the answer of the provider in a browser with these cookies. */
  const comeBack = (url: string, cookie: string) => {
    const { pathname, search } = new URL(url)
    return app.inject({ url: pathname + search, headers: { cookie, 'user-agent': 'Firefox on Linux' } })
  }
  /** Signs a person in at the provider; returns where the browser ends and its session. */
  const signIn = async (account: Account, next = '') => {
    fake.state.account = account
    const { url, cookie } = await start(next)
    const reply = await comeBack(await fake.visit(url), cookie)
    assert.equal(reply.statusCode, 303, reply.body)
    return { to: String(reply.headers.location), session: sessionIn(reply) }
  }
  /** Returns who a session belongs to and their workspaces; null if it has ended. */
  const sessionOf = async (token: string | undefined, on = app) => {
    const reply = await on.inject({ url: '/api/team/v1/session', headers: { cookie: cookieOf(token ?? '') } })
    return reply.statusCode === 200 ? reply.json() : null
  }
  return { ...w, node, other, app, providerId, fake, call, settingsWith, configure, start, comeBack, signIn, sessionOf }
}

/** Returns the cookie of a visit that has not come back, as the browser sends it. */
export function attemptIn(reply: LightMyRequestResponse): string {
  const found = reply.cookies.find(({ name }) => name === 'parley_sso')
  return `parley_sso=${found?.value ?? ''}`
}

let people = 0

/** Returns a person at the provider, of a domain of their own. */
export function person(changes: Record<string, unknown> = {}) {
  const domain = `d${++people}.example.com`
  const account = { sub: `subject-${people}`, name: 'Bea Reis', email: `bea@${domain}`, email_verified: true }
  return { domain, account: { ...account, ...changes } as Account & { email: string } }
}
