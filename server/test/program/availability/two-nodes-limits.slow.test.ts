import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { databaseSettings, testDatabase } from '../../support/database.ts'
import { oncePerFile } from '../../support/file-end.ts'
import { newFolder } from '../../support/folder.ts'
import { freePort, operatorToken, type Service, startService } from '../../support/program/service.ts'

const storms = Number(process.env.LIMIT_STORMS ?? 3)
/** Of a key, a minute. */
const limit = 100
const quota = 20

const startedNodes = oncePerFile(async (): Promise<[Service, Service]> => {
  const database = await testDatabase()
  const env = {
    ...databaseSettings(database),
    PARLEY_MASTER_KEY: randomBytes(32).toString('base64'),
    PARLEY_LEADS_RATE_LIMIT: String(limit),
  }
  const start = async () => startService({ folder: await newFolder(), port: await freePort(), env })
  return [await start(), await start()]
})

test('single creations, upserts and batches on two processes share one quota, exact to the last lead', async (t) => {
  const nodes = await startedNodes()
  for (let storm = 0; storm < storms; storm++) {
    const key = await newKey(nodes[0], quota)
    const item = (ref: string) => ({ match: { by: 'externalRef', value: ref }, lead: { firstName: 'Kim' } })
    const works = Array.from({ length: 12 }, (_, n) => [
      { path: '/api/v1/leads', body: { firstName: 'Kim' } },
      { path: '/api/v1/leads/upsert', body: item(`single-${n}`) },
      { path: '/api/v1/leads/bulk-upsert', body: { items: [item(`a-${n}`), item(`b-${n}`)] } },
    ]).flat()
    const answers = await Promise.all(works.map(({ path, body }, n) => call(nodes[n % 2], 'POST', path, key, body)))
    const made = answers.reduce(
      (sum, { status, body }) => sum + (body.created ?? (status === 201 || body.action === 'created' ? 1 : 0)),
      0,
    )
    assert.equal(made, quota, JSON.stringify(answers.map(({ status }) => status)))
    const { body } = await call(nodes[1], 'GET', '/api/v1/leads?limit=100', key)
    assert.equal(body.data.length, quota)
  }
  t.diagnostic(`${storms} storms`)
})

test('a key gets no more answers a minute on two processes than on one', async (t) => {
  const nodes = await startedNodes()
  for (let storm = 0; storm < storms; storm++) {
    const key = await newKey(nodes[0], 0)
    const asked = Array.from({ length: 2 * limit }, (_, n) => call(nodes[n % 2], 'GET', '/api/v1/leads', key))
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    const taken = statuses.filter((status) => status === 200).length
    assert.deepEqual([...new Set(statuses)].sort(), [200, 429])
    // What one has leased ahead and the other would have used is the price of it.
    assert.ok(taken <= limit && taken >= limit / 2, `${taken} of ${limit}`)
  }
  t.diagnostic(`${storms} storms`)
})

async function newKey(node: Service, dailyLeadQuota: number): Promise<string> {
  const { body } = await call(node, 'POST', '/api/team/v1/workspaces', operatorToken, {
    name: 'Limits',
    dailyLeadQuota,
  })
  const path = `/api/team/v1/workspaces/${body.workspace.id}/keys`
  const scopes = ['leads.read', 'leads.write', 'leads.bulk']
  return (await call(node, 'POST', path, operatorToken, { name: 'Storm', scopes })).body.value
}

async function call(node: Service | undefined, method: string, path: string, token: string, body?: object) {
  const response = await fetch(`${node?.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape; a test fails where one is wrong
  return { status: response.status, body: (await response.json()) as any }
}
