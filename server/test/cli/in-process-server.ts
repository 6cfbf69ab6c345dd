import { buildApp } from '../../src/app/app.ts'
import { repeatAfterPause } from '../../src/base/async/loop.ts'
import { openRuntime } from '../../src/cli/start/runtime.ts'
import { removeServerFile, writeServerFile } from '../../src/cli/team-call.ts'
import { loadConfig } from '../../src/config.ts'
import { startImports } from '../../src/leads/transfer/import/run-import.ts'
import { databaseSettings, testDatabase } from '../support/database.ts'
import { atEnd, oncePerFile } from '../support/file-lifecycle.ts'
import { newFolder } from '../support/folder.ts'
import { serviceEnvironment } from '../support/program/service.ts'

export type InProcessServer = Awaited<ReturnType<typeof inProcessServer>>

const workEveryMs = 10

/** Starts the service in this process, on the database of the test file, and stores its address in a data folder, where commands look for it. */
export const inProcessServer = oncePerFile(async () => {
  const folder = await newFolder()
  const env = serviceEnvironment(folder, 1, {
    ...databaseSettings(await testDatabase()),
    PARLEY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    PARLEY_LOG_LEVEL: 'silent',
    // The simulated platform runs on this machine.
    PARLEY_ALLOW_CIDRS: '127.0.0.0/8',
  })
  const runtime = await openRuntime(loadConfig(env), () => {})
  const app = await buildApp(runtime)
  const repeat: typeof repeatAfterPause = (_pauseMs, work, onError) => repeatAfterPause(workEveryMs, work, onError)
  const imports = startImports({ ...runtime, repeat })
  atEnd(async () => {
    await imports.stop()
    await app.close()
    await runtime.close()
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  writeServerFile(folder, { url, token: runtime.localToken })
  return { env, url, folder, runtime, removeAddress: () => removeServerFile(folder, runtime.localToken) }
})
