import { after, suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { closeKeptResources, registerFileHooks } from './file-lifecycle.ts'

const maxRunMs = 15 * 60_000
const maxEndMs = 10_000

/** Runs test files in sequence in this process, because loading the service takes longer than most files do. */
export async function runGroup(files: readonly { name: string; path: string }[]): Promise<void> {
  endWithin(maxRunMs)
  for (const { name, path } of files) {
    const { promise: isOver, resolve } = Promise.withResolvers<void>()
    void suite(name, async () => {
      registerFileHooks()
      await import(pathToFileURL(path).href).catch((error) => {
        void test(`${name} loads`, () => {
          throw error
        })
      })
      after(() => resolve())
    })
    await isOver
  }
  await closeKeptResources()
  endWithin(maxEndMs)
}

/** Exits after this time: unfinished work of a timed-out test would keep the process and the whole run alive. */
function endWithin(ms: number): void {
  const end = () => {
    console.error(`Still open ${ms / 1000} s later: ${process.getActiveResourcesInfo().join(', ')}`)
    process.exit(1)
  }
  setTimeout(end, ms).unref()
}
