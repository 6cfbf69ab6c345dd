import { after, suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { endWithFile, endWithProcess } from './file-end.ts'

const maxRunMs = 15 * 60_000
const maxEndMs = 10_000

/**
 * Runs test files one after the other in this process. To load the service takes longer than most files do, and so it is
 * loaded once for several.
 */
export async function runGroup(files: readonly { name: string; path: string }[]): Promise<void> {
  endWithin(maxRunMs)
  for (const { name, path } of files) {
    const { promise: isOver, resolve } = Promise.withResolvers<void>()
    void suite(name, async () => {
      endWithFile()
      await import(pathToFileURL(path).href).catch((error) => {
        void test(`${name} loads`, () => {
          throw error
        })
      })
      after(() => resolve())
    })
    await isOver
  }
  await endWithProcess()
  endWithin(maxEndMs)
}

/** What a test that ran out of time goes on with would keep the process, and with it the whole run, for ever. */
function endWithin(ms: number): void {
  const end = () => {
    console.error(`Still open ${ms / 1000} s later: ${process.getActiveResourcesInfo().join(', ')}`)
    process.exit(1)
  }
  setTimeout(end, ms).unref()
}
