import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { testDatabase } from '../../support/database.ts'
import { oncePerFile } from '../../support/file-lifecycle.ts'
import { type CuttingProxy, databaseByProxy } from '../../support/postgres/cutting-proxy.ts'
import { ask, newWorkspace, operatorToken, startService } from '../../support/program/service.ts'
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

/** A service, and what stands between it and its database. */
const started = oncePerFile(async () => {
  const database = await testDatabase()
  const { proxy, options } = await databaseByProxy(database.options)
  const service = await startService({
    env: { ...nodeSettings({ ...database, options }), PARLEY_SIMULATOR: '0' },
  })
  return { proxy, service, ...(await newWorkspace(service.url)) }
})

for (const [how, go, comeBack] of ways) {
  test(`while the database ${how} every operation responds within 20 s without a 500, and the service recovers`, async (t) => {
    const { proxy, service, workspaceId, key } = await started()
    assert.equal((await ask(service.url, key, 'GET /api/v1/leads')).status, 200)

    go(proxy)
    const counts: Record<string, number> = {}
    const faults: string[] = []
    let slowestMs = 0
    const call = async ({ name, method, path, body }: Operation) => {
      const startedAt = performance.now()
      const token = /^\/api\/v[12]\//.test(path) ? key : operatorToken
      const { status, headers, text } = await ask(service.url, token, `${method} ${path}`, body)
      const ms = performance.now() - startedAt
      slowestMs = Math.max(slowestMs, ms)
      counts[status] = (counts[status] ?? 0) + 1
      const isFine = status < 500 || (status === 503 && headers.has('retry-after'))
      if (!isFine || ms > (path === '/readyz' ? maxReadyMs : maxMs))
        faults.push(`${name}: ${status} after ${Math.round(ms)} ms: ${text}`)
    }
    const operations = await readOperations(workspaceId)
    await Promise.all(operations.map(call))
    t.diagnostic(
      `${operations.length} operations: ${JSON.stringify(counts)}, the slowest after ${Math.round(slowestMs)} ms`,
    )
    assert.deepEqual(faults, [])
    assert.ok((counts['503'] ?? 0) > operations.length / 2)

    comeBack(proxy)
    await until(async () => (await ask(service.url, '', 'GET /readyz')).status === 200, 'a process that is ready again')
    assert.equal(service.count('request failed'), 0)
  })
}

test('a process can stop while its database does not respond', async () => {
  const { proxy, service, key } = await started()
  proxy.silence(true)
  const asked = proxy.clientBytes()
  // The caller may wait for longer than a process that stops waits for callers, and the work behind the others for as long again.
  const reading = ask(service.url, key, 'GET /api/v1/leads').catch(() => null)
  await until(() => proxy.clientBytes() > asked, 'a statement')
  await service.stop()
  const answer = await reading
  assert.ok(answer === null || answer.status === 503)
})

interface Operation {
  name: string
  method: string
  path: string
  body?: object
}

const someId = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d03'

/** Each of the document but for streams, with ids that nothing has: it is asked for before anybody knows that. */
async function readOperations(workspaceId: string): Promise<Operation[]> {
  const { paths } = JSON.parse(await readFile('docs/openapi.json', 'utf8'))
  type Methods = Record<string, { operationId: string; requestBody?: object }>
  return Object.entries<Methods>(paths).flatMap(([pattern, methods]) => {
    const path = pattern.replace('{workspaceId}', workspaceId).replaceAll(/\{\w+\}/g, someId)
    return Object.entries(methods).map(([method, { operationId: name, requestBody }]) => ({
      name,
      method: method.toUpperCase(),
      path,
      ...(requestBody !== undefined && { body: { firstName: 'Kim' } }),
    }))
  })
}
