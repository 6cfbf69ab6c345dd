import type { Config } from '../config.ts'
import type { ServerAddress } from './start/server-file.ts'
import { runningServer } from './team-call.ts'
import { say } from './terminal.ts'

/**
 * Does `work`, which moves files, with the server that runs on this data folder. When none answers, one is opened for
 * that long, for this machine alone.
 */
export async function withServer<T>(config: Config, work: (server: ServerAddress) => Promise<T>): Promise<T> {
  const running = await runningServer(config)
  if (running !== null) return work(running)

  const [{ buildApp }, { openRuntime: openHouse }, { startImports }] = await Promise.all([
    import('../app/app.ts'),
    import('./start/runtime.ts'),
    import('../leads/transfer/import/run.ts'),
  ])
  const runtime = await openHouse({ ...config, logLevel: 'warn' }, say)
  try {
    const app = await buildApp(runtime)
    const imports = startImports(runtime)
    try {
      const url = await app.listen({ host: '127.0.0.1', port: 0 })
      return await work({ url, token: runtime.localToken })
    } finally {
      await imports.stop()
      await app.close()
    }
  } finally {
    await runtime.close()
  }
}
