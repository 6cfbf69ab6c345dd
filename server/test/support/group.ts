import { after, suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { endWithFile, endWithProcess } from './file-end.ts'

/**
 * Runs test files one after the other in this process. To load the service takes longer than most files do, and so it is
 * loaded once for several.
 */
export async function runGroup(files: readonly { name: string; path: string }[]): Promise<void> {
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
}
