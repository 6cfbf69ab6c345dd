import { after, afterEach, type TestContext } from 'node:test'

// Small test files share a process (`group.ts`). Each starts as if in a new process: resources of earlier files are
// closed, and objects made once per file are made again.

/** Enough for a busy machine to delete an installation with tens of thousands of files. */
const timeoutMs = 120_000

type Ending = () => Promise<unknown>
type Restorer = (test: TestContext) => Promise<void>

const ofFile: Ending[] = []
const ofProcess: Ending[] = []
const restorers = new Set<Restorer>()
let endings = ofFile

/** Runs after all tests of the file, in reverse order of registration. */
export function atEnd(end: Ending): void {
  endings.push(end)
}

/** Keeps resources that `make` opens for the other files of the process. */
export async function keepForProcess<T>(make: () => Promise<T>): Promise<T> {
  endings = ofProcess
  try {
    return await make()
  } finally {
    endings = ofFile
  }
}

/** Closes the kept resources after the last file. */
export const closeKeptResources = (): Promise<void> => endAll(ofProcess)

/** Returns a function that makes one instance per test file, on first use. */
export function oncePerFile<A extends unknown[], T>(make: (...given: A) => T): (...given: A) => T {
  let made: { thing: T } | undefined
  return (...given) => {
    if (made === undefined) {
      atEnd(async () => {
        made = undefined
      })
      const now = { thing: make(...given) }
      made = now
      // A failed instance is made again for the next test; otherwise one slow moment would fail the whole file.
      if (now.thing instanceof Promise) now.thing.catch(() => (made = made === now ? undefined : made))
    }
    return made.thing
  }
}

/** Runs `restore` after each test of a file that uses it; `restore` checks whether this test needs it. */
export function afterEachTest(restore: Restorer): void {
  restorers.add(restore)
}

/** Registers both hooks for the tests defined next. */
export function registerFileHooks(): void {
  afterEach(async (test) => {
    for (const restore of restorers) await restore(test as TestContext)
  })
  after(() => endAll(ofFile), { timeout: timeoutMs })
}

async function endAll(these: Ending[]): Promise<void> {
  // A failure must not prevent the other endings: open resources would keep the process running.
  const failures: unknown[] = []
  for (const end of these.splice(0).reverse()) await end().catch((error) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

// For a test file run alone: at load time, hence before its own hooks.
if (process.env.PARLEY_TEST_SERVER === undefined) {
  registerFileHooks()
  after(closeKeptResources, { timeout: timeoutMs })
}
