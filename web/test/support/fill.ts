import { systemClock } from '../../../server/src/base/clock.ts'
import { openVault } from '../../../server/src/base/sealing/vault.ts'
import type { Filling } from '../../../server/test/support/fill.ts'
import type { Demo } from './demo.ts'

/** Puts rows by the thousands into the demo's own database, sealed as the service seals them. */
export async function fillDemo(
  { db, masterKey, workspaceId }: Demo,
  fill: (filling: Filling) => Promise<void>,
): Promise<void> {
  const keyring = await openVault(db, { current: masterKey }, systemClock).keyring(workspaceId)
  await fill({ db, keyring, workspaceId, now: new Date() })
}
