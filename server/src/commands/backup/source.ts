import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { addressOfRunning, startEmbeddedPostgres } from '../../base/embedded/embedded-postgres.ts'
import { FolderInUse } from '../../base/embedded/folder-lock.ts'
import { type DatabaseAddress, socketAddress } from '../../base/postgres/address/address.ts'
import type { Config } from '../../config.ts'
import { say } from '../terminal.ts'

export interface Source {
  address: DatabaseAddress
  close(): Promise<void>
}

/** The embedded database: that of the service while it runs, else started for as long as it is needed. */
export async function openEmbedded(config: Config): Promise<Source> {
  requireCluster(config)
  try {
    return await startEmbedded(config.dataFolder)
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error
    return { address: await addressOfRunning(config.dataFolder), close: async () => {} }
  }
}

/** The same, where nobody else may use it meanwhile. */
export async function startEmbedded(folder: string): Promise<Source> {
  const { stop, ...login } = await startEmbeddedPostgres({ folder, log: say })
  return { address: socketAddress(login), close: stop }
}

export function requireCluster({ dataFolder }: Config): void {
  if (existsSync(join(dataFolder, 'postgres'))) return
  throw new Error(`There is no database in ${dataFolder}. Set PARLEY_DATA_DIR to the data folder of the installation.`)
}
