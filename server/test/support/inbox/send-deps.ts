import type { Clock } from '../../../src/base/clock.ts'
import type { Db } from '../../../src/base/db.ts'
import type { KeyStore } from '../../../src/base/encryption/key-store.ts'
import { createLog } from '../../../src/base/log.ts'
import { runStep } from '../../../src/base/run-step.ts'
import { findConnection, findConnections } from '../../../src/channels/connection/queries.ts'
import type { Connector } from '../../../src/channels/connector.ts'
import type { MediaTransport } from '../../../src/channels/media-transport.ts'
import type { SendDeps } from '../../../src/inbox/send/send-deps.ts'
import { openSendWakeups } from '../../../src/inbox/send/send-deps.ts'

export const fastSendRates = { connection: { burst: 1000, everyMs: 0.01 }, pair: { burst: 1000, everyMs: 0.01 } }

/** Returns the dependencies of a node for sending, on a pool and with a connector to the platform. */
export async function sendDeps(
  db: Db,
  keyStore: KeyStore,
  clock: Clock,
  { connector, way }: { connector: Connector; way: MediaTransport },
  store: SendDeps['store'],
): Promise<SendDeps> {
  return {
    db,
    keyStore,
    clock,
    log: createLog('silent'),
    wakeups: await openSendWakeups(db),
    connectors: {
      ...{ waba: connector, partner: connector, website: connector },
      unofficial: { ...connector, maxTextLength: null, supportsChoices: false },
    },
    findLead: async () => null,
    findLeads: async () => new Map(),
    findLeadPhones: async () => [],
    openConnection: async (workspaceId, id) =>
      (await findConnection(db.sql, await keyStore.keyring(workspaceId), workspaceId, id)) ?? null,
    connectionsIn: findConnections,
    sendRatesOf: () => fastSendRates,
    mediaTransportOf: () => way,
    store,
    recordRefusal: async () => {},
    recordAcceptance: async () => {},
    step: runStep,
  }
}
