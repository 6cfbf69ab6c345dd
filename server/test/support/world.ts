import { buildApp } from '../../src/app/app.ts'
import { gaugesOf } from '../../src/app/gauges.ts'
import type { Runtime } from '../../src/app/runtime.ts'
import { createApiKey, type NewKeyInput } from '../../src/auth/api-keys/change-key.ts'
import { createMemoryLimiter } from '../../src/auth/rate-limit/limiter.ts'
import type { PasswordCost } from '../../src/auth/users/passwords.ts'
import { type Clock, type ManualClock, manualClock } from '../../src/base/clock.ts'
import { openKeyStore } from '../../src/base/encryption/key-store.ts'
import { newId } from '../../src/base/id.ts'
import { createLog } from '../../src/base/log.ts'
import type { App } from '../../src/base/route.ts'
import type { Connectors } from '../../src/channels/connector.ts'
import { loadConfig } from '../../src/config.ts'
import { createSequencer } from '../../src/events/sequence.ts'
import { createMetrics } from '../../src/http/monitoring/metrics.ts'
import { openFolderStore } from '../../src/media/store/folder-store.ts'
import { type FakePlatform, fakePlatform } from './channels/fake-platform.ts'
import { type ContractCheck, checkAnswers } from './contract/contract.ts'
import { testDatabase } from './database.ts'
import { atEnd, oncePerFile } from './file-lifecycle.ts'
import { newFolder } from './folder.ts'
import { fastSendRates } from './inbox/send-deps.ts'
import { openTestOutgoing } from './outgoing/outgoing.ts'

/** Time at which every test begins, before the legacy delete scope ends. */
export const testNoon = new Date('2026-03-10T12:00:00.000Z')

/** Cheap password hashing, for tests that do not test the hash. */
export const cheapPasswords: PasswordCost = { memoryKib: 64, passes: 1 }

/** Token with full permissions for the team API, as set by an operator. */
export const testTeamToken = 'team-token-of-the-tests-0001'

export interface TestApp extends Runtime {
  app: App
  /** Calls of the app to chat platforms, in order. */
  platform: FakePlatform
  clock: ManualClock
  /** All log lines. */
  logLines: string[]
}

/** Connectors that replace the fake platform for a test file. */
export type OwnConnectors = (runtime: Pick<Runtime, 'db' | 'keyStore' | 'clock'>) => Partial<Connectors>

/** Returns the runtime of a test file's service: its own database, without rate limits. */
export async function testRuntime<C extends Clock>(clock: C, settings: Record<string, string> = {}) {
  const { db } = await testDatabase()
  const logLines: string[] = []
  const log = createLog('debug', { write: (line) => logLines.push(line) })
  const runtime = {
    config: loadConfig({
      PARLEY_LEADS_RATE_LIMIT: '0',
      PARLEY_INBOX_RATE_LIMIT: '0',
      PARLEY_TEAM_RATE_LIMIT: '0',
      PARLEY_TEAM_TOKEN: testTeamToken,
      ...settings,
    }),
    log,
    clock,
    db,
    keyStore: openKeyStore(db, { current: Buffer.alloc(32, 7) }, clock),
    limiter: createMemoryLimiter(clock),
    metrics: createMetrics(gaugesOf({ db, clock, log }, 10)),
    sequencer: createSequencer(db),
    outgoing: openTestOutgoing(),
    passwordCost: cheapPasswords,
    media: openFolderStore(await newFolder()),
    sendRatesOf: () => fastSendRates,
  } satisfies Runtime
  await runtime.media.writeMark('a mark')
  await runtime.keyStore.ensureInstanceSecrets()
  atEnd(async () => runtime.outgoing.close())
  return { ...runtime, logLines }
}

/** Starts the whole service, with all answers checked against the contract. */
export async function servedApp(runtime: Runtime): Promise<App> {
  let answers: ContractCheck | undefined
  const app = await buildApp(runtime, (server) => {
    // The routes are the same in all files; only what is behind them differs.
    answers = checkAnswers(server, 'service')
  })
  await app.ready()
  atEnd(async () => {
    await app.close()
    answers?.assertNone()
  })
  return app
}

/** Whole service of this test file, with a clock that the tests move. Created at the first call. */
export const testApp = oncePerFile(async (ownConnectors: OwnConnectors = () => ({})): Promise<TestApp> => {
  const runtime = await testRuntime(manualClock(testNoon))
  const platform = fakePlatform()
  const connectors = { ...platform.connectors, ...ownConnectors(runtime) }
  return { ...runtime, connectors, app: await servedApp({ ...runtime, connectors }), platform }
})

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and fail where one is wrong
  body: any
  headers: Record<string, unknown>
}

export interface CallOptions {
  body?: unknown
  /** Sent unchanged, for bodies that are not JSON. */
  raw?: string | Buffer
  query?: Record<string, string>
  headers?: Record<string, string>
  key?: string
}

export interface World extends TestApp {
  workspaceId: string
  keyId: string
  key: string
  call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT', path: string, options?: CallOptions): Promise<Answer>
  /** Adds another key to the workspace. */
  addKey(settings: Partial<NewKeyInput>): Promise<{ id: string; value: string }>
  /** Creates a lead; returns it as the service shows it. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  lead(fields?: Record<string, unknown>): Promise<any>
  /** Returns the events recorded about a lead, oldest first. */
  events(subjectId: string): Promise<{ name: string; payload: Record<string, unknown> }[]>
}

export interface WorldOptions {
  scopes?: NewKeyInput['scopes']
  key?: Partial<NewKeyInput>
  dailyLeadQuota?: number
  defaultCountry?: string
}

/** Returns a function that sends requests to an app, with this key by default. */
export function callerOf(app: App, key: string): World['call'] {
  return async (method, path, request = {}) => {
    const payload = request.raw ?? (request.body === undefined ? undefined : JSON.stringify(request.body))
    const reply = await app.inject({
      method,
      url: path,
      ...(request.query ? { query: request.query } : {}),
      headers: {
        authorization: `Bearer ${request.key ?? key}`,
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(payload === undefined ? {} : { payload }),
    })
    const isJson = String(reply.headers['content-type'] ?? '').startsWith('application/json')
    return { status: reply.statusCode, body: isJson ? reply.json() : reply.body, headers: reply.headers }
  }
}

/** Creates a workspace with one key. Tests share a database but no workspace, so each also tests tenant isolation. */
export async function world(options: WorldOptions = {}): Promise<World> {
  const test = await testApp()
  const { app, db, keyStore, clock } = test
  const workspaceId = newId(clock.now())
  await db.tx(async (tx) => {
    await tx`
      insert into workspaces (id, name, default_country, daily_lead_quota, created_at, updated_at)
      values (
        ${workspaceId}, 'Test', ${options.defaultCountry ?? null}, ${options.dailyLeadQuota ?? 100_000},
        ${clock.now()}, ${clock.now()}
      )`
    await keyStore.createSecrets(tx, workspaceId)
  })
  const addKey: World['addKey'] = async (settings) => {
    const input = { workspaceId, createdBy: null, name: 'Test key', scopes: ['leads.read'] as const, ...settings }
    const { key, value } = await db.tx((tx) => createApiKey(tx, input as NewKeyInput, clock.now()))
    return { id: key.id, value }
  }
  const scopes = options.scopes ?? ['leads.read', 'leads.write', 'leads.delete', 'leads.bulk']
  const { id: keyId, value: key } = await addKey({ scopes, ...options.key })

  const call = callerOf(app, key)
  return {
    ...test,
    workspaceId,
    keyId,
    key,
    call,
    addKey,
    lead: async (fields = {}) => {
      const answer = await call('POST', '/api/v1/leads', { body: { firstName: 'Marina', ...fields } })
      if (answer.status !== 201) throw new Error(`Lead not created: ${JSON.stringify(answer.body)}`)
      return answer.body.data
    },
    events: async (subjectId) => {
      const keyring = await keyStore.keyring(workspaceId)
      const rows = await db.sql<{ id: string; name: string; payload: Buffer }[]>`
        select id, name, payload
        from events
        where workspace_id = ${workspaceId}
          and subject_id = ${subjectId}
        order by id`
      return rows.map(({ id, name, payload }) => ({
        name,
        payload: JSON.parse(keyring.decryptText({ table: 'events', row: id, column: 'payload' }, payload)),
      }))
    },
  }
}
