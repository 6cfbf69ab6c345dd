import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { shiftedClock, systemClock } from '../../base/clock.ts'
import { createLog } from '../../base/log.ts'
import { loadConfig } from '../../config.ts'
import { noSimulator } from '../../scenarios/run/start-run.ts'
import { loadSimulator } from '../simulate.ts'
import { callAt, type TeamCall } from '../team-call.ts'

export interface Installation {
  call: TeamCall
  /** Address of the service, for agents. */
  url: string
  /** Path of a workspace in the team API. */
  place: string
}

/** Short, because nobody looks at the ticks. */
const statusTimes = { sentMs: 20, deliveredMs: 40, readMs: 60 }

/**
 * Starts a service with its own database and simulator in this process, in a temporary folder. Removes everything when
 * `work` has ended.
 */
export async function withTemporaryInstallation<T>(work: (installation: Installation) => Promise<T>): Promise<T> {
  const loaded = await loadSimulator()
  if (loaded === null) throw new Error(noSimulator)
  const folder = mkdtempSync(join(tmpdir(), 'parley-scenarios-'))
  const simulator = await loaded.startSimulator({
    port: 0,
    clock: shiftedClock(systemClock),
    log: createLog('silent'),
    ladder: statusTimes,
  })
  try {
    const config = loadConfig({
      PARLEY_DATA_DIR: folder,
      PARLEY_PORT: String(await freePort()),
      PARLEY_DEMO: '0',
      PARLEY_SIMULATOR: '1',
      PARLEY_SIMULATOR_PORT: new URL(simulator.url).port,
      PARLEY_LOG_LEVEL: 'silent',
      // Agents of all scenarios share the address of this machine.
      PARLEY_INBOX_RATE_LIMIT: '0',
      PARLEY_LEADS_RATE_LIMIT: '0',
      ...judgeSettings(process.env),
    })
    const [{ buildApp }, { openRuntime }, { startWorker }] = await Promise.all([
      import('../../app/app.ts'),
      import('../start/runtime.ts'),
      import('../serve.ts'),
    ])
    const runtime = await openRuntime(config, () => {})
    try {
      const app = await buildApp(runtime)
      const { host, port } = config.http
      const url = await app.listen({ host, port })
      const worker = startWorker(runtime)
      try {
        const call = callAt({ url, token: runtime.localToken })
        const { workspace } = await call<{ workspace: { id: string } }>('POST', '/workspaces', { name: 'Scenarios' })
        return await work({ call, url, place: `/workspaces/${workspace.id}` })
      } finally {
        app.server.closeAllConnections()
        await app.close()
        await worker.stop()
      }
    } finally {
      await runtime.close()
    }
  } finally {
    await simulator.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const judgeSettings = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries(
    ['PARLEY_JUDGE_URL', 'PARLEY_JUDGE_MODEL', 'PARLEY_JUDGE_KEY', 'PARLEY_ALLOW_CIDRS'].flatMap((name) =>
      env[name] === undefined ? [] : [[name, env[name]]],
    ),
  )

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('No free port found')
  return address.port
}
