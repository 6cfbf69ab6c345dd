// `npm run contract` writes the contract to docs/. `npm run contract:check` fails if docs/ differs from the app or the
// document breaks a lint rule.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildApp } from '../server/src/app/app.ts'
import { gaugesOf } from '../server/src/app/gauges.ts'
import { createMemoryLimiter } from '../server/src/auth/rate-limit/limiter.ts'
import { systemClock } from '../server/src/base/clock.ts'
import { openDb } from '../server/src/base/db.ts'
import { openKeyStore } from '../server/src/base/encryption/key-store.ts'
import { createLog } from '../server/src/base/log.ts'
import { openOutgoing } from '../server/src/base/outgoing/guarded-fetch.ts'
import type { App } from '../server/src/base/route.ts'
import { loadConfig } from '../server/src/config.ts'
import { createSequencer } from '../server/src/events/sequence.ts'
import { openapiDocument, routesDocument } from '../server/src/http/contract/openapi.ts'
import { postmanCollection } from '../server/src/http/contract/postman.ts'
import { createMetrics } from '../server/src/http/monitoring/metrics.ts'
import { openFolderStore } from '../server/src/media/store/folder-store.ts'
import { agentClientIsCurrent, writeAgentClient } from './agent-client.ts'
import { apiTypesAreCurrent, writeApiTypes } from './api-types.ts'
import { clientTypesAreCurrent, writeClientTypes } from './client-types.ts'
import { lintContract } from './contract-lint.ts'
import { textTypesAreCurrent, writeTextTypes } from './text-types.ts'

const exampleUrl = 'http://localhost:7007'
const files = {
  'docs/openapi.json': (app: App): unknown => openapiDocument(app),
  'docs/postman.json': (app: App): unknown => postmanCollection(routesDocument(app), exampleUrl),
}

/** Writes the contract of a ready app to `docs/`. */
export async function writeContract(app: App): Promise<void> {
  for (const [file, make] of Object.entries(files)) {
    await mkdir(dirname(locate(file)), { recursive: true })
    await writeFile(locate(file), `${JSON.stringify(make(app), null, 2)}\n`)
  }
  await writeApiTypes()
  await writeClientTypes()
  await writeAgentClient()
  await writeTextTypes()
}

/** Returns the differences between the written contract and the app, as `file: path`. */
export async function checkContract(app: App): Promise<string[]> {
  const found: string[] = []
  for (const [file, make] of Object.entries(files)) {
    const written: unknown = JSON.parse(await readFile(locate(file), 'utf8').catch(() => 'null'))
    const made: unknown = JSON.parse(JSON.stringify(make(app)))
    found.push(...differences(written, made, '').map((path) => `${file}: ${path}`))
  }
  if (!(await apiTypesAreCurrent())) found.push('web/src/api/schema.ts: differs from docs/openapi.json')
  if (!(await clientTypesAreCurrent())) found.push('client/src/types.ts: differs from docs/openapi.json')
  if (!(await agentClientIsCurrent())) found.push('client/src/agent-calls.ts: differs from the agent tools')
  if (!(await textTypesAreCurrent())) found.push('web/src/text/schema.ts: differs from the English catalogs')
  return found
}

function locate(file: string): string {
  return fileURLToPath(new URL(`../${file}`, import.meta.url))
}

function differences(written: unknown, made: unknown, path: string): string[] {
  if (isTree(written) && isTree(made) && Array.isArray(written) === Array.isArray(made)) {
    const names = new Set([...Object.keys(written), ...Object.keys(made)])
    const found = [...names].flatMap((name) => differences(written[name], made[name], `${path}/${name}`))
    const isSameOrder = Object.keys(written).join('\n') === Object.keys(made).join('\n')
    return found.length > 0 || isSameOrder ? found : [`${path || '/'} is in another order`]
  }
  if (written === made) return []
  if (written === undefined) return [`${path} is not in the file`]
  return [made === undefined ? `${path} is no longer in the app` : `${path || '/'} is not the same`]
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Returns the whole service with a database that is never used: enough to describe its API. */
export async function appWithoutDatabase(watch?: (app: App) => void): Promise<App> {
  const db = { ...openDb({ socketFolder: '/nowhere' }), listen: async () => {} }
  const log = createLog('silent')
  const runtime = {
    config: loadConfig({}),
    log,
    clock: systemClock,
    db,
    keyStore: openKeyStore(db, { current: Buffer.alloc(32) }, systemClock),
    limiter: createMemoryLimiter(systemClock),
    metrics: createMetrics(gaugesOf({ db, clock: systemClock, log }, 10)),
    sequencer: createSequencer(db),
    outgoing: openOutgoing({ allowCidrs: [] }),
    // Never written to.
    media: openFolderStore('/nowhere'),
  }
  const app = await buildApp(runtime, watch)
  await app.ready()
  return app
}

async function run(command: string | undefined): Promise<number> {
  const app = await appWithoutDatabase()
  if (command === 'write') {
    await writeContract(app)
    return 0
  }
  const found = await checkContract(app)
  for (const difference of found) console.error(difference)
  if (found.length > 0) console.error('The contract in docs/ differs from the app. Run: npm run contract')
  const broken = await lintContract(openapiDocument(app))
  for (const problem of broken) console.error(problem)
  return found.length + broken.length > 0 ? 1 : 0
}

if (import.meta.main) process.exit(await run(process.argv[2]))
