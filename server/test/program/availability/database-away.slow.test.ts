import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { testDatabase } from '../../support/database.ts'
import { newFolder } from '../../support/folder.ts'
import { type CuttingProxy, databaseByProxy } from '../../support/postgres/cutting-proxy.ts'
import { freePort, newWorkspace, operatorToken, type Service, startService } from '../../support/program/service.ts'
import { nodeSettings } from '../../support/program/two-nodes.ts'
import { until } from '../../support/until.ts'

/** However long a request waits for the database, here its answer is. */
const maxMs = 20_000
/** Readiness has 3 s, beside all the others that are asked at the same moment. */
const maxReadyMs = 8_000

const ways: [how: string, go: (proxy: CuttingProxy) => void, comeBack: (proxy: CuttingProxy) => void][] = [
  [
    'is gone',
    (proxy) => {
      proxy.cutAfter(0)
      proxy.cutAll()
    },
    (proxy) => proxy.cutAfter(null),
  ],
  ['is silent', (proxy) => proxy.silence(true), (proxy) => proxy.silence(false)],
]

for (const [how, go, comeBack] of ways) {
  test(`while the database ${how} every operation answers within 20 s and none with 500, and all goes on by itself`, async (t) => {
    const database = await testDatabase()
    const { proxy, options } = await databaseByProxy(database.options)
    const env = { ...nodeSettings({ ...database, options }), PARLEY_SIMULATOR: '0' }
    const service = await startService({ folder: await newFolder(), port: await freePort(), env })
    const { workspaceId, key } = await newWorkspace(service.url)
    const known = await fetch(`${service.url}/api/v1/leads`, { headers: { authorization: `Bearer ${key}` } })
    assert.equal(known.status, 200)

    go(proxy)
    const counts: Record<string, number> = {}
    const faults: string[] = []
    let slowestMs = 0
    const ask = async ({ name, method, path, body }: Operation) => {
      const startedAt = performance.now()
      const token = path.startsWith('/api/v1/') || path.startsWith('/api/v2/') ? key : operatorToken
      const headers = {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      }
      const reply = await fetch(service.url + path, {
        method,
        headers,
        redirect: 'manual',
        ...(body !== undefined && { body }),
      })
      const text = await reply.text()
      const ms = performance.now() - startedAt
      slowestMs = Math.max(slowestMs, ms)
      counts[reply.status] = (counts[reply.status] ?? 0) + 1
      const isFine = reply.status < 500 || (reply.status === 503 && reply.headers.has('retry-after'))
      if (!isFine || ms > (path === '/readyz' ? maxReadyMs : maxMs))
        faults.push(`${name}: ${reply.status} after ${Math.round(ms)} ms: ${text}`)
    }
    const operations = await readOperations(workspaceId)
    await Promise.all(operations.map(ask))
    t.diagnostic(
      `${operations.length} operations: ${JSON.stringify(counts)}, the slowest after ${Math.round(slowestMs)} ms`,
    )
    assert.deepEqual(faults, [])
    assert.ok((counts['503'] ?? 0) > operations.length / 2)

    comeBack(proxy)
    await until(async () => (await fetch(`${service.url}/readyz`)).ok, 'a process that is ready again')
    assert.deepEqual(linesOf(service, '"request failed"'), [])
    service.kill('SIGTERM')
    assert.deepEqual({ code: await service.gone, why: linesOf(service, '"stopping failed"') }, { code: 0, why: [] })
  })
}

test('a process whose database falls silent stops all the same', async () => {
  const database = await testDatabase()
  const { proxy, options } = await databaseByProxy(database.options)
  const env = { ...nodeSettings({ ...database, options }), PARLEY_SIMULATOR: '0' }
  const service = await startService({ folder: await newFolder(), port: await freePort(), env })
  const { key } = await newWorkspace(service.url)
  proxy.silence(true)
  const asked = proxy.asked()
  // The caller may wait for longer than a process that stops waits for callers, and the work behind the others for as long again.
  const reading = fetch(`${service.url}/api/v1/leads`, { headers: { authorization: `Bearer ${key}` } }).catch(
    () => null,
  )
  await until(() => proxy.asked() > asked, 'a statement')
  service.kill('SIGTERM')
  assert.deepEqual({ code: await service.gone, why: linesOf(service, '"stopping failed"') }, { code: 0, why: [] })
  const answer = await reading
  assert.ok(answer === null || answer.status === 503)
})

/** What it has logged that holds these words. */
const linesOf = (service: Service, words: string) => service.lines().filter((line) => line.includes(words))

interface Operation {
  name: string
  method: string
  path: string
  body?: string
}

const someId = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d03'

/** Each of the document but for streams, with ids that nothing has: it is asked for before anybody knows that. */
async function readOperations(workspaceId: string): Promise<Operation[]> {
  const { paths } = JSON.parse(await readFile('docs/openapi.json', 'utf8'))
  const found: Operation[] = []
  for (const [pattern, methods] of Object.entries<Record<string, { operationId: string; requestBody?: object }>>(
    paths,
  )) {
    const path = pattern.replace('{workspaceId}', workspaceId).replaceAll(/\{\w+\}/g, someId)
    for (const [method, { operationId: name, requestBody }] of Object.entries(methods)) {
      found.push({
        name,
        method: method.toUpperCase(),
        path,
        ...(requestBody !== undefined && { body: '{"firstName":"Kim"}' }),
      })
    }
  }
  return found
}
