import type { Clock } from '../../../src/base/clock.ts'
import type { Db } from '../../../src/base/db.ts'
import { createLog } from '../../../src/base/log.ts'
import type { Vault } from '../../../src/base/sealing/vault.ts'
import { runStep } from '../../../src/base/steps.ts'
import type { Connection } from '../../../src/channels/connection/connection.ts'
import type { Connector } from '../../../src/channels/connector.ts'
import type { SendDeps } from '../../../src/inbox/send/send-deps.ts'
import { openSendWakeups } from '../../../src/inbox/send/send-wakeups.ts'

const fastPaces = { connection: { burst: 1000, everyMs: 0.01 }, pair: { burst: 1000, everyMs: 0.01 } }

/** What a node needs to send, on a pool and with a way to the platform. */
export async function sendDeps(db: Db, vault: Vault, clock: Clock, connector: Connector): Promise<SendDeps> {
  return {
    db,
    vault,
    clock,
    log: createLog('silent'),
    wakes: await openSendWakeups(db),
    connectors: { waba: connector, unofficial: { ...connector, maxTextLength: null }, partner: connector },
    leadOf: async () => null,
    phonesOfLeads: async () => [],
    openConnection: (workspaceId, id) => openTestConnection(db, workspaceId, id),
    pacesOf: () => fastPaces,
    noteRefusal: async () => {},
    step: runStep,
  }
}

async function openTestConnection(db: Db, workspaceId: string, id: string): Promise<Connection | null> {
  const [row] = await db.sql`
    select channel, state, acknowledged_at
    from connections
    where workspace_id = ${workspaceId}
      and id = ${id}
      and removed_at is null`
  if (row === undefined) return null
  const settings = { baseUrl: 'http://127.0.0.1', version: 'v25.0', accessToken: '', appSecret: '', verifyToken: '' }
  return {
    workspaceId,
    id,
    channel: row.channel,
    name: 'Number',
    numberId: id,
    accountId: null,
    settings,
    state: row.state,
    stateReason: null,
    acknowledgedAt: row.acknowledged_at,
    isOnPhone: false,
  }
}
