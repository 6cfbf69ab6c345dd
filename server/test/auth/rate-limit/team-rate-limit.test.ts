import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryLimiter } from '../../../src/auth/rate-limit/limiter.ts'
import { loadConfig } from '../../../src/config.ts'
import { startNode } from '../../support/events/feed-world.ts'
import { signedInMember } from '../../support/member.ts'
import { testTeamToken, world } from '../../support/world.ts'

async function limitedWorld(teamPerMinute: number) {
  const w = await world()
  const config = { ...w.config, limits: { ...w.config.limits, teamPerMinute } }
  const localToken = 'the-token-of-the-command-line'
  const { app } = await startNode(w, { config, limiter: createMemoryLimiter(w.clock), localToken })
  const get = async (headers: Record<string, string>, path = '/labels') => {
    const reply = await app.inject({ url: `/api/team/v1/workspaces/${w.workspaceId}${path}`, headers })
    return { status: reply.statusCode, headers: reply.headers, body: reply.json() }
  }
  return { ...w, get, localToken }
}

test('each session and token has its own limit per minute, and gets the remaining number', async () => {
  const { get, clock, ...w } = await limitedWorld(2)
  const [one, other] = [await signedInMember({ ...w, clock }), await signedInMember({ ...w, clock })]
  const credentials: Record<string, string>[] = [{ cookie: one.cookie }, { authorization: `Bearer ${testTeamToken}` }]
  for (const credential of credentials) {
    const first = await get(credential)
    assert.equal(first.status, 200)
    assert.equal(first.headers['ratelimit-limit'], '2')
    assert.equal(first.headers['ratelimit-remaining'], '1')
    assert.equal(first.headers['ratelimit-policy'], '2;w=60')
    assert.equal((await get(credential)).status, 200)
    const refused = await get(credential)
    assert.equal(refused.status, 429)
    assert.deepEqual(refused.body.data, { code: 'RATE_LIMITED' })
    assert.ok(Number(refused.headers['retry-after']) >= 1)
    assert.equal(refused.headers['ratelimit-remaining'], '0')
  }
  assert.equal((await get({ cookie: other.cookie })).status, 200)
  clock.advance(61_000)
  assert.equal((await get({ cookie: one.cookie })).status, 200)
})

test('requests to foreign workspaces count too', async () => {
  const { get, ...w } = await limitedWorld(1)
  const stranger = await signedInMember(await world())
  assert.equal((await get({ cookie: stranger.cookie })).status, 404)
  assert.equal((await get({ cookie: stranger.cookie })).status, 429)
  assert.ok(w.workspaceId)
})

test('the local command line is not limited, and 0 turns the limit off', async () => {
  const { get, localToken } = await limitedWorld(1)
  for (let count = 0; count < 3; count++) {
    assert.equal((await get({ authorization: `Bearer ${localToken}` })).status, 200)
  }
  const free = await limitedWorld(0)
  const answer = await free.get({ authorization: `Bearer ${testTeamToken}` })
  assert.deepEqual([answer.status, answer.headers['ratelimit-limit']], [200, undefined])
})

test('the limit is 600 a minute by default', () => {
  assert.equal(loadConfig({}).limits.teamPerMinute, 600)
  assert.equal(loadConfig({ PARLEY_TEAM_RATE_LIMIT: '90' }).limits.teamPerMinute, 90)
})

test('forwarded addresses from an unlisted proxy are ignored, and logged once', async () => {
  const w = await world()
  const forwarded = { 'x-forwarded-for': '198.51.100.9' }
  const payload = { email: 'nobody@example.com', password: 'wrong' }
  const post = (headers: Record<string, string>) =>
    w.app.inject({ method: 'POST', url: '/api/team/v1/sign-in', payload, headers })
  const warnings = () => w.logLines.filter((line) => line.includes('PARLEY_TRUSTED_PROXIES'))
  await post({})
  assert.equal(warnings().length, 0)
  await post(forwarded)
  await post(forwarded)
  assert.equal(warnings().length, 1)
  assert.ok(!warnings()[0]?.includes('198.51.100.9'))
})
