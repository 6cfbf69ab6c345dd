import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ssoWorld } from '../../server/test/auth/sso/sso-world.ts'
import { atEnd } from '../../server/test/support/file-lifecycle.ts'
import { publicUrl, sessionIn } from '../../server/test/support/team-app.ts'
import { clientId, clientSecret, openIdentityProvider } from '../src/identity-provider.ts'

const w = await ssoWorld()
const provider = await openIdentityProvider(0, publicUrl)
atEnd(provider.close)

/** Follows the provider's pages as a browser that sends this form on the page of choice; returns where it leads. */
async function choose(start: string, form: Record<string, string>): Promise<string> {
  const cookies = new Map<string, string>()
  const open = async (url: string, init: RequestInit = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(url, { ...init, headers: { cookie }, redirect: 'manual' })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return answer
  }
  let url = start
  for (let step = 0; step < 10 && url.startsWith(provider.issuer); step++) {
    const isChoice = new URL(url).pathname.startsWith('/interaction/')
    if (isChoice) assert.match(await (await open(url)).text(), /Ana Lima.*groups: support, admins/s)
    const answer = await open(url, isChoice ? { method: 'POST', body: new URLSearchParams(form) } : {})
    const next = answer.headers.get('location')
    assert.ok(next !== null, `${url} answers ${answer.status}: ${await answer.text()}`)
    url = new URL(next, url).href
  }
  return url
}

test('a person chooses who they are at the simulated provider, and is that person in the service', async () => {
  const { workspaceId } = await w.team()
  await w.configure({
    ...{ issuer: provider.issuer, clientId, clientSecret },
    access: [{ group: 'sales', workspaceId, role: 'admin' }],
  })
  for (const [form, to] of [
    [{ name: 'Bea Reis', email: 'Bea@sso.example.com', groups: 'sales, other', isVerified: 'on' }, '/'],
    [{ name: 'Caio Mota', email: 'caio@sso.example.com', groups: '', isVerified: 'on' }, '/sign-in?sso=no-group'],
  ] as const) {
    const { url, cookie } = await w.start()
    const back = await w.comeBack(await choose(url, form), cookie)
    assert.equal(back.headers.location, to)
    const session = await w.sessionOf(sessionIn(back))
    assert.equal(session?.user.name, to === '/' ? form.name : undefined)
  }
  const about = await (await fetch(provider.issuer)).text()
  for (const shown of [provider.issuer, clientId, clientSecret]) assert.ok(about.includes(shown), shown)
})

test('the simulated provider sends nobody to another site', async () => {
  const query = new URLSearchParams({ client_id: clientId, response_type: 'code', scope: 'openid' })
  query.set('redirect_uri', `${publicUrl}.evil.example/sso/1/callback`)
  const answer = await fetch(`${provider.issuer}/auth?${query}`, { redirect: 'manual' })
  assert.deepEqual([answer.status, answer.headers.get('location')], [400, null])
})
