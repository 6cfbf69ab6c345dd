import { buildApp, buildWorkerApp } from '../app/app.ts'
import { presentPayload } from '../app/events.ts'
import { fetchDeps, inboxReceive, openFileOf, sendDeps } from '../app/inbox.ts'
import type { Runtime } from '../app/runtime.ts'
import { createAutomationWorker } from '../automation/worker.ts'
import { type Loop, withTimeout } from '../base/async/loop.ts'
import { makeRest } from '../base/load-later.ts'
import { localUrl } from '../base/outgoing/address.ts'
import { lowerPriority } from '../base/process-limits.ts'
import type { App } from '../base/route.ts'
import { runStep } from '../base/run-step.ts'
import { version } from '../base/version.ts'
import { createBroadcastWorker } from '../broadcasts/worker.ts'
import { openTransports, startSessionWorker } from '../channels/unofficial/session/worker.ts'
import type { Config } from '../config.ts'
import { startDraining } from '../http/monitoring/health.ts'
import { buildCommand } from '../http/pages/web-app.ts'
import { createMediaFetcher } from '../inbox/media/media-fetcher.ts'
import { createPreviews } from '../inbox/media/preview.ts'
import { startBulkChanges } from '../leads/bulk/run-bulk-change.ts'
import { startImports } from '../leads/transfer/import/run-import.ts'
import { leadSequences } from '../sequences/start-runs.ts'
import { createDeliveryWorker } from '../webhooks/deliver/worker.ts'
import type { PendingStart } from './start/begin-start.ts'
import { type FirstStart, prepareFirstStart } from './start/first-start.ts'
import { type OpenRuntime, openRuntime } from './start/runtime.ts'
import { startScheduledJobs } from './start/scheduled-jobs.ts'
import { noSimulation, type Simulation, startSimulation } from './start/simulation.ts'
import type { Pause } from './start/stop-signals.ts'
import { removeServerFile, writeServerFile } from './team-call.ts'
import { describeProblem, printMessage } from './terminal.ts'

const maxDrainMs = 10_000
/** Exits even if the database never returns: a supervisor would kill the process and leave its children running. */
const maxStopMs = 25_000
/** Limit because a first start may wait for another process's as long as that takes. */
const maxFirstStartMs = 5_000
/** Then database connections are closed, which takes up to 5 s. Their work is rolled back and repeated elsewhere. */
const closeConnectionsAfterMs = 18_000

export interface ServeOptions {
  /** Prints the start message as one JSON line. */
  json?: boolean
  /** Runs only a part of the service. Several processes on one database share the parts. */
  only?: 'api' | 'worker'
}

/** Runs the service, or a part of it, until a signal stops it. */
export async function serve(
  { config, signals, ...pending }: PendingStart,
  { json, only }: ServeOptions,
): Promise<void> {
  const runtime = await openRuntime(config, printMessage, pending)
  logFatalErrors(runtime)
  const isApi = only !== 'worker'
  if (!isApi) lowerPriority()
  const app = await openApp(runtime, isApi ? buildApp : buildWorkerApp)
  if (isApi) {
    writeServerFile(config.dataFolder, { url: localUrl(config.http.host, config.http.port), token: runtime.localToken })
  }
  const worker = only === 'api' ? null : startWorker(runtime)
  const simulation = isApi ? await startSimulation(runtime, printMessage) : noSimulation
  runtime.log.info('listening', { host: config.http.host, port: config.http.port, version })
  await logPoolerAbilities(runtime)
  makeRest().catch((error) => runtime.log.error('failed to load a package or compile a route schema', {}, error))

  let firstStart = Promise.resolve()
  const firstStartAbort = new AbortController()
  const endFirstStart = async () => {
    const abortTimer = setTimeout(() => firstStartAbort.abort(), maxFirstStartMs)
    await firstStart
    clearTimeout(abortTimer)
  }
  signals.stopWith((pause) => stop({ runtime, app, worker, simulation, isApi, endFirstStart }, pause))
  if (!isApi) {
    printMessage(`Parley ${version} worker is running. Stop with Ctrl+C.`)
    return
  }
  const howTo = buildCommand()
  if (howTo !== null)
    printMessage(`The web app is not built. Stop the service, run this command, and start the service again: ${howTo}`)
  const { phonesUrl } = simulation
  const show = (start: FirstStart) =>
    printMessage(
      json
        ? JSON.stringify(startDocument(config, start, phonesUrl))
        : welcomeLines(config, start, phonesUrl).join('\n'),
    )
  firstStart = prepareFirstStart(runtime, simulation.connect, show, firstStartAbort.signal)
  await firstStart
}

async function logPoolerAbilities({ db, log }: OpenRuntime): Promise<void> {
  const pooler = await db.poolerFeatures()
  if (pooler === null) return
  log.info(
    pooler.supportsPreparedStatements
      ? 'connected through a pooler that supports prepared statements'
      : 'connected through a pooler without prepared statements; every statement is planned again',
  )
  if (!pooler.hasLimits) log.info('the database role has no timeouts of its own; sending them with every transaction')
}

async function openApp(runtime: OpenRuntime, build: (runtime: OpenRuntime) => Promise<App>): Promise<App> {
  const app = await build(runtime)
  try {
    await app.listen({ host: runtime.config.http.host, port: runtime.config.http.port })
    return app
  } catch (error) {
    await closeAll([() => app.close(), () => runtime.close()])
    throw portProblem(runtime.config, error)
  }
}

function portProblem({ http }: Config, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') {
    return new Error(
      `Port ${http.port} of ${http.host} is in use. Stop the program that uses it, or set PARLEY_PORT to a free one.`,
    )
  }
  if (code === 'EACCES')
    return new Error(`Port ${http.port} is not allowed for this user. Set PARLEY_PORT to 1024 or higher.`)
  if (code === 'EADDRNOTAVAIL')
    return new Error(`${http.host} is not an address of this machine. Set PARLEY_HOST to one.`)
  return error
}

interface RunningService {
  runtime: OpenRuntime
  app: App
  isApi: boolean
  worker: Loop | null
  simulation: Simulation
  endFirstStart: () => Promise<void>
}

/** Stops the process: first callers are moved to other processes, then running requests and work end. */
async function stop(
  { runtime, app, isApi, worker, simulation, endFirstStart }: RunningService,
  pause: Pause,
): Promise<void> {
  const { config, db, log, localToken } = runtime
  const drainMs = isApi ? config.http.drainMs : 0
  let stopped: Promise<void> | undefined
  const stopWorker = async () => {
    stopped ??= worker?.stop()
    await stopped
  }
  startDraining(app)
  // Other workers take over its leases immediately. Without a drain time the worker keeps running while requests
  // finish.
  if (!isApi || drainMs > 0) stopWorker().catch(() => {})
  if (drainMs > 0) {
    printMessage(`Stopping in ${drainMs / 1000} s, to let callers move to other processes. Press Ctrl+C to stop now.`)
    await pause(drainMs)
  }
  printMessage('Stopping after running requests have finished')
  removeServerFile(config.dataFolder, localToken)
  const closeTimer = setTimeout(() => {
    log.warn('shutdown timeout reached; closing open connections', { timeoutMs: closeConnectionsAfterMs })
    void db.close()
  }, closeConnectionsAfterMs)
  const steps = [endFirstStart, () => simulation.stop(), () => closeApp(app), stopWorker, () => runtime.close()]
  const problems = await withTimeout(maxStopMs, () => closeAll(steps)).catch((error: unknown) => [error])
  clearTimeout(closeTimer)
  for (const problem of problems) log.error('shutdown failed', {}, problem)
  log.info('stopped')
  process.exit(problems.length > 0 ? 1 : 0)
}

async function closeApp(app: App): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), maxDrainMs)
  await app.close()
  clearTimeout(cut)
}

/** Runs each step in order, even after one has failed. Returns the errors. */
async function closeAll(steps: (() => Promise<unknown>)[]): Promise<unknown[]> {
  const problems: unknown[] = []
  for (const step of steps) await step().catch((error: unknown) => problems.push(error))
  return problems
}

/** Exits after an unexpected error, because the state is unknown; a supervisor restarts the process. */
function logFatalErrors({ log }: OpenRuntime): void {
  process.on('uncaughtException', (error) => {
    log.error('unexpected error', {}, error)
    printMessage(`Parley stopped after an unexpected error: ${describeProblem(error)}`)
    process.exit(1)
  })
}

function startDocument({ http }: Config, start: FirstStart, phonesUrl: string | null) {
  return { url: http.publicUrl, docs: `${http.publicUrl}/docs`, version, ...(phonesUrl && { phonesUrl }), ...start }
}

const demoWarning =
  'Webhooks and channels can call this machine, for the demo. PARLEY_DEMO=0 and PARLEY_SIMULATOR=0 disable this.'

/** Returns the lines that the terminal shows once the service listens. */
function welcomeLines(
  { http, dataFolder, database, demo, simulator }: Config,
  start: FirstStart,
  phonesUrl: string | null,
): string[] {
  const { publicUrl } = http
  const data = database.url === null ? [`The data is in ${dataFolder}.`] : []
  return [
    '',
    `  Parley ${version} is running at ${publicUrl}`,
    '',
    ...nextSteps(publicUrl, start).map((line) => (line === '' ? '' : `  ${line}`)),
    '',
    ...(phonesUrl === null ? [] : phoneLines(phonesUrl)),
    ...(demo || simulator.enabled ? [`  ${demoWarning}`] : []),
    `  API reference: ${publicUrl}/docs`,
    `  ${[...data, 'Stop with Ctrl+C.'].join(' ')}`,
    '',
  ]
}

const phoneLines = (phonesUrl: string): string[] => [
  `  Simulated phones: ${phonesUrl}`,
  `  Simulated business phone, to link by QR code: ${phonesUrl}/owner`,
]

function nextSteps(publicUrl: string, start: FirstStart): string[] {
  switch (start.state) {
    case 'demo':
      return [
        'Sign in (this link works once and expires in 24 hours):',
        `  ${start.signInUrl}`,
        '',
        'API key for the workspace Demo (shown only once):',
        `  ${start.apiKey}`,
        '',
        'Create a lead:',
        `  ${curlLine(publicUrl, start.apiKey)}`,
      ]
    case 'empty':
      return [
        'There is no workspace yet. Create one with an invitation link for its owner:',
        '  npx parley workspace create "Acme" --owner you@example.com',
      ]
    case 'known':
      return ['Create a sign-in link:  npx parley member link', 'Create an API key:      npx parley key create']
    default:
      return start satisfies never
  }
}

function curlLine(publicUrl: string, apiKey: string): string {
  const headers = `-H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json'`
  const body = '{"firstName":"Marina","phone":"+55 11 98765-4321","source":"website"}'
  return `curl -sS ${publicUrl}/api/v1/leads ${headers} -d '${body}'`
}

/** Starts the background work. Any number of processes can run it concurrently. */
export function startWorker(runtime: Runtime): Loop {
  const scheduledJobs = startScheduledJobs(runtime)
  const imports = startImports(runtime)
  const bulkChanges = startBulkChanges({ ...runtime, sequences: leadSequences })
  const webhooks = createDeliveryWorker({ ...runtime, present: presentPayload, observe: runtime.metrics.webhooks })
  webhooks.start()
  const automationDeps = { ...runtime, sends: sendDeps(runtime), step: runStep }
  const automation = createAutomationWorker({ ...automationDeps, onEnd: runtime.metrics.automationRun })
  automation.start()
  const broadcasts = createBroadcastWorker({ ...runtime, sends: sendDeps(runtime), leads: runtime, step: runStep })
  broadcasts.start()
  const transportOf = openTransports(runtime)
  const sessionDeps = { ...runtime, receive: inboxReceive(runtime), openFile: openFileOf(runtime), transportOf }
  const sessions = startSessionWorker({ ...sessionDeps, random: Math.random })
  const previews = createPreviews(runtime)
  const files = createMediaFetcher(fetchDeps(runtime, previews))
  files.start()
  return {
    stop: async () => {
      await Promise.all([
        sessions.stop(),
        webhooks.stop(),
        automation.stop(),
        broadcasts.stop(),
        imports.stop(),
        bulkChanges.stop(),
        scheduledJobs.stop(),
        files.stop(),
      ])
      await previews.close()
    },
  }
}
