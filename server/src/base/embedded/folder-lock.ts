import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface FolderLock {
  release(): void
}

const sqliteBusy = 5

/** Another process has the data folder, and may serve it. */
export class FolderInUse extends Error {}

/**
 * Takes the data folder for this process. Throws, naming the holder, when another process has it. The operating
 * system drops the lock with the process, however it dies, so there is never a stale lock to remove.
 */
export function lockFolder(folder: string): FolderLock {
  // Node offers no file lock of its own; SQLite takes a real one on every platform.
  const file = new DatabaseSync(join(folder, 'parley.lock'), { timeout: 0 })
  const pidFile = join(folder, 'parley.pid')
  try {
    file.exec('begin exclusive')
  } catch (error) {
    file.close()
    if (!isBusy(error)) throw error
    throw new FolderInUse(
      `The data folder ${folder} is in use by ${holder(pidFile)}. Stop it, or set PARLEY_DATA_DIR to another folder.`,
    )
  }
  writeFileSync(pidFile, `${process.pid}\n`)
  return {
    release: () => {
      rmSync(pidFile, { force: true })
      file.close()
    },
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy
}

function holder(pidFile: string): string {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8'))
    // The file of a killed process may still be there when the new holder has not yet written its own.
    process.kill(pid, 0)
    return `process ${pid}`
  } catch (error) {
    const notOurs = error instanceof Error && 'code' in error && error.code === 'EPERM'
    return notOurs ? `process ${readFileSync(pidFile, 'utf8').trim()}` : 'another process'
  }
}
