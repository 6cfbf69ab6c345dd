import { join } from 'node:path'
import { systemClock } from '../../../server/src/base/clock.ts'
import { openDb } from '../../../server/src/base/db.ts'
import { socketFolderOf } from '../../../server/src/base/embedded/socket.ts'
import { loadOrCreateMasterKeyFile } from '../../../server/src/base/master-key.ts'
import { openVault } from '../../../server/src/base/vault.ts'
import type { Filling } from '../../../server/test/support/fill.ts'
import type { Demo } from './demo.ts'

/** Puts rows by the thousands into the demo's own database, sealed as the service seals them. */
export async function fillDemo(
  { folder, workspaceId }: Demo,
  fill: (filling: Filling) => Promise<void>,
): Promise<void> {
  const socketFolder = await socketFolderOf(join(folder, 'postgres'))
  const db = openDb({ socketFolder, user: 'parley', database: 'parley', maxConnections: 2 })
  try {
    const masterKeys = { current: loadOrCreateMasterKeyFile(join(folder, 'master.key')) }
    const keyring = await openVault(db, masterKeys, systemClock).keyring(workspaceId)
    await fill({ db, keyring, workspaceId, now: new Date() })
  } finally {
    await db.close()
  }
}
