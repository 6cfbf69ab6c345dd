import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { databaseSettings, testDatabase } from '../../support/database.ts'
import { oncePerFile } from '../../support/file-lifecycle.ts'
import { ask, operatorToken, type Service, startService } from '../../support/program/service.ts'

const storms = Number(process.env.LIMIT_STORMS ?? 2)
/** Of a key, a minute. */
const limit = 100
const quota = 20

const startedNodes = oncePerFile(async (): Promise<[Service, Service]> => {
  const env = {
    ...databaseSettings(await testDatabase()),
    PARLEY_MASTER_KEY: randomBytes(32).toString('base64'),
    PARLEY_LEADS_RATE_LIMIT: String(limit),
  }
  return [await startService({ env }), await startService({ env })]
})

test('single creations, upserts and batches on two processes share one quota, exact to the last lead', async (t) => {
  const nodes = await startedNodes()
  for (let storm = 0; storm < storms; storm++) {
    const key = await newKey(nodes[0], quota)
    const item = (ref: string) => ({ match: { by: 'externalRef', value: ref }, lead: { firstName: 'Kim' } })
    const works: [path: string, body: object][] = Array.from({ length: 12 }, (_, n): [string, object][] => [
      ['', { firstName: 'Kim' }],
      ['/upsert', item(`single-${n}`)],
      ['/bulk-upsert', { items: [item(`a-${n}`), item(`b-${n}`)] }],
    ]).flat()
    const answers = await Promise.all(
      works.map(([path, body], n) => ask(nodes[n % 2 === 0 ? 0 : 1].url, key, `POST /api/v1/leads${path}`, body)),
    )
    const made = answers.reduce(
      (sum, { status, body }) => sum + (body.created ?? (status === 201 || body.action === 'created' ? 1 : 0)),
      0,
    )
    assert.equal(made, quota, JSON.stringify(answers.map(({ status }) => status)))
    const { body } = await ask(nodes[1].url, key, 'GET /api/v1/leads?limit=100')
    assert.equal(body.data.length, quota)
  }
  t.diagnostic(`${storms} storms`)
})

test('the rate limit of a key is shared by two processes', async (t) => {
  const nodes = await startedNodes()
  for (let storm = 0; storm < storms; storm++) {
    const key = await newKey(nodes[0], 0)
    const asked = Array.from({ length: 2 * limit }, (_, n) =>
      ask(nodes[n % 2 === 0 ? 0 : 1].url, key, 'GET /api/v1/leads'),
    )
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    const taken = statuses.filter((status) => status === 200).length
    assert.deepEqual([...new Set(statuses)].sort(), [200, 429])
    // What one has leased ahead and the other would have used is the price of it.
    assert.ok(taken <= limit && taken >= limit / 2, `${taken} of ${limit}`)
  }
  t.diagnostic(`${storms} storms`)
})

async function newKey({ url }: Service, dailyLeadQuota: number): Promise<string> {
  const team = 'POST /api/team/v1/workspaces'
  const { workspace } = (await ask(url, operatorToken, team, { name: 'Limits', dailyLeadQuota })).body
  const input = { name: 'Storm', scopes: ['leads.read', 'leads.write', 'leads.bulk'] }
  return (await ask(url, operatorToken, `${team}/${workspace.id}/keys`, input)).body.value
}
