import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** How commands reach the server that runs on the same data folder. */
export interface ServerAddress {
  url: string
  /** Full rights over the team API until the server stops. */
  token: string
}

const pathIn = (dataFolder: string) => join(dataFolder, 'server.json')

/** Leaves the address where the owner of the data folder, and nobody else, can read it. */
export function writeServerFile(dataFolder: string, address: ServerAddress): void {
  const path = pathIn(dataFolder)
  const draft = `${path}.${process.pid}`
  rmSync(draft, { force: true })
  writeFileSync(draft, JSON.stringify(address), { mode: 0o600, flag: 'wx' })
  renameSync(draft, path)
}

/** Null when no server has left one. A server that was killed leaves a stale one. */
export function readServerFile(dataFolder: string): ServerAddress | null {
  try {
    return JSON.parse(readFileSync(pathIn(dataFolder), 'utf8')) as ServerAddress
  } catch {
    return null
  }
}

/** Removes the file, unless another server has put its own there meanwhile. */
export function removeServerFile(dataFolder: string, token: string): void {
  if (readServerFile(dataFolder)?.token === token) rmSync(pathIn(dataFolder), { force: true })
}
