import type { Clock } from '../../../src/base/clock.ts'
import type { Db, Fragment, Sql } from '../../../src/base/db.ts'
import { createLog } from '../../../src/base/log.ts'
import type { Vault } from '../../../src/base/sealing/vault.ts'
import { runStep } from '../../../src/base/steps.ts'
import type { Connection } from '../../../src/channels/connection/connection.ts'
import type { Connector } from '../../../src/channels/connector.ts'
import type { MediaWay } from '../../../src/channels/media-way.ts'
import type { SendDeps } from '../../../src/inbox/send/send-deps.ts'
import { openSendWakeups } from '../../../src/inbox/send/send-wakeups.ts'

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
    phonesOfLeads: async () => [],
    openConnection: async (workspaceId, id) => {
      const [connection] = await openTestConnections(db.sql, workspaceId, db.sql`select ${id}::uuid`)
      return connection ?? null
    },
    connectionsIn: (sql, _keyring, workspaceId, ids) => openTestConnections(sql, workspaceId, ids),
    pacesOf: () => fastPaces,
    mediaWayOf: () => way,
    store,
    noteRefusal: async () => {},
    step: runStep,
  }
}

async function openTestConnections(sql: Sql, workspaceId: string, ids: Fragment): Promise<Connection[]> {
  const rows = await sql`
    select id, channel, state, acknowledged_at
    from connections
    where workspace_id = ${workspaceId}
      and id = any (array(${ids}))
      and removed_at is null`
  const settings = { baseUrl: 'http://127.0.0.1', version: 'v25.0', accessToken: '', appSecret: '', verifyToken: '' }
  return rows.map((row) => ({
    workspaceId,
    id: row.id,
    channel: row.channel,
    name: 'Number',
    numberId: row.id,
    accountId: null,
    settings,
    state: row.state,
    stateReason: null,
    acknowledgedAt: row.acknowledged_at,
    isOnPhone: false,
  }))
}
