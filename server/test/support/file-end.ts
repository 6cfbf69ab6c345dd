import { after, afterEach, type TestContext } from 'node:test'

// Small test files share a process (`group.ts`), and each begins as if it had one of its own: what the files before it
// have opened is closed, and what was made once for them is made anew.

/** Of a busy machine that removes an installation's ten thousands of files. */
const patienceMs = 120_000

type Ending = () => Promise<unknown>
type Restorer = (test: TestContext) => Promise<void>

const ofFile: Ending[] = []
const ofProcess: Ending[] = []
const restorers = new Set<Restorer>()
let endings = ofFile

/** Runs after all tests of the file; what came last goes first. */
export function atEnd(end: Ending): void {
  endings.push(end)
}

/** Has all that `make` opens stay open for the other files of the process. */
export async function keptForProcess<T>(make: () => Promise<T>): Promise<T> {
  endings = ofProcess
  try {
    return await make()
  } finally {
    endings = ofFile
  }
}

/** Closes what was kept, after the last file. */
export const endWithProcess = (): Promise<void> => endAll(ofProcess)

/** The same one for all tests of a file, made when it is first asked for. */
export function oncePerFile<A extends unknown[], T>(make: (...given: A) => T): (...given: A) => T {
  let made: { thing: T } | undefined
  return (...given) => {
    if (made === undefined) {
      atEnd(async () => {
        made = undefined
      })
      const now = { thing: make(...given) }
      made = now
      // What could not be made is tried again for the next test: else one slow moment fails the whole file.
      if (now.thing instanceof Promise) now.thing.catch(() => (made = made === now ? undefined : made))
    }
    return made.thing
  }
}

/** Runs after each test of the files that use it: `restore` looks whether this one did. */
export function afterEachTest(restore: Restorer): void {
  restorers.add(restore)
}

/** Has both run for the tests that are about to be told of. */
export function endWithFile(): void {
  afterEach(async (test) => {
    for (const restore of restorers) await restore(test as TestContext)
  })
  after(() => endAll(ofFile), { timeout: patienceMs })
}

async function endAll(these: Ending[]): Promise<void> {
  // One that fails must not leave open what the others close: the process would wait for it.
  const failures: unknown[] = []
  for (const end of these.splice(0).reverse()) await end().catch((error) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

// A file that is run by itself: while it loads, hence before any hook of its own.
if (process.env.PARLEY_TEST_SERVER === undefined) {
  endWithFile()
  after(endWithProcess, { timeout: patienceMs })
}
