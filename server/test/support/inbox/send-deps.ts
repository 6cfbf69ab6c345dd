import type { Clock } from '../../../src/base/clock.ts'
import type { Db } from '../../../src/base/db.ts'
import { createLog } from '../../../src/base/log.ts'
import type { Vault } from '../../../src/base/sealing/vault.ts'
import { runStep } from '../../../src/base/steps.ts'
import { findConnection, findConnections } from '../../../src/channels/connection/queries.ts'
import type { Connector } from '../../../src/channels/connector.ts'
import type { MediaWay } from '../../../src/channels/media-way.ts'
import type { SendDeps } from '../../../src/inbox/send/send-deps.ts'
import { openSendWakeups } from '../../../src/inbox/send/send-deps.ts'

export const fastPaces = { connection: { burst: 1000, everyMs: 0.01 }, pair: { burst: 1000, everyMs: 0.01 } }

/** What a node needs to send, on a pool and with a way to the platform. */
export async function sendDeps(
  db: Db,
  vault: Vault,
  clock: Clock,
  { connector, way }: { connector: Connector; way: MediaWay },
  store: SendDeps['store'],
): Promise<SendDeps> {
  return {
    db,
    vault,
    clock,
    log: createLog('silent'),
    wakes: await openSendWakeups(db),
    connectors: {
      waba: connector,
      unofficial: { ...connector, maxTextLength: null, takesChoices: false },
      partner: connector,
    },
    leadOf: async () => null,
    leadsOf: async () => new Map(),
    phonesOfLeads: async () => [],
    openConnection: async (workspaceId, id) =>
      (await findConnection(db.sql, await vault.keyring(workspaceId), workspaceId, id)) ?? null,
    connectionsIn: findConnections,
    pacesOf: () => fastPaces,
    mediaWayOf: () => way,
    store,
    noteRefusal: async () => {},
    noteAcceptance: async () => {},
    step: runStep,
  }
}
