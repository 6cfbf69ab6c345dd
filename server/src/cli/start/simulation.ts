import type { Simulator } from '../../../../simulator/src/simulator.ts'
import type { BusinessNumber } from '../../../../simulator/src/world.ts'
import { adaptersOf } from '../../app/inbox.ts'
import type { Sql } from '../../base/db.ts'
import { localUrl } from '../../base/outgoing/address.ts'
import {
  type ChangeAuthor,
  type ConnectionDeps,
  createConnection,
} from '../../channels/connection/change-connection.ts'
import type { StoredConnection } from '../../channels/connection/connection.ts'
import { listConnectedWorkspaces, listConnections } from '../../channels/connection/queries.ts'
import { proofHeaders } from '../../channels/partner/adapter.ts'
import { type LoadedSimulator, loadSimulator } from '../simulate.ts'
import type { OpenRuntime } from './runtime.ts'

export interface Simulation {
  /** Address of the phones; null without a simulator. */
  phonesUrl: string | null
  /** Connects a workspace to the simulated number and phone, and lets the number's customers write. */
  connect(workspaceId: string): Promise<void>
  stop(): Promise<void>
}

export const noSimulation: Simulation = { phonesUrl: null, connect: async () => {}, stop: async () => {} }

/** Starts the simulator if enabled. If its port is taken, only the phones are missing. */
export async function startSimulation(runtime: OpenRuntime, say: (line: string) => void): Promise<Simulation> {
  const { config, log, simulatedClock: clock } = runtime
  if (clock === null) return noSimulation
  const { host, port, mailPort, ssoPort } = config.simulator
  const loaded = await loadSimulator()
  if (loaded === null) {
    say('The simulated phones are not part of this package. To use them, run Parley from a clone of its repository.')
    return noSimulation
  }
  const { seedDemo } = loaded
  const known = await connectedNumbers(runtime, loaded)
  try {
    const ownHosts = [new URL(config.http.publicUrl).hostname]
    const simulator = await loaded.startSimulator({
      port,
      host,
      ownHosts,
      serviceUrl: config.http.publicUrl,
      clock,
      log,
      mailPort,
      ssoPort,
      phone: { trustsUnknownDevices: true },
      ...(known[0] && { number: known[0] }),
    })
    for (const number of known) simulator.platform.world.numbers.set(number.numberId, number)
    // A first start may have been killed before its customers' messages were received.
    if (known.length > 0) seedDemo(simulator, { speak: config.demo && !(await hasConversation(runtime.db.sql)) })
    return {
      phonesUrl: `${simulator.url}/phone`,
      // A demo whose first start was killed may already have its numbers.
      connect: async (workspaceId) => {
        if (known.length === 0) {
          await connect(runtime, simulator, workspaceId)
          seedDemo(simulator, { speak: true })
        }
        await connectPhone(runtime, simulator, workspaceId)
      },
      stop: simulator.stop,
    }
  } catch (error) {
    log.warn('failed to start the simulator', { port }, error)
    say(`The simulated phones did not start: port ${port} is not available. Set PARLEY_SIMULATOR_PORT to another.`)
    return noSimulation
  }
}

async function hasConversation(sql: Sql): Promise<boolean> {
  const [row] = await sql`
    select id
    from conversations
    limit 1`
  return row !== undefined
}

/** Returns the simulated numbers of stored connections. The simulator does not store them. */
async function connectedNumbers(runtime: OpenRuntime, { newNumber }: LoadedSimulator): Promise<BusinessNumber[]> {
  const { db, keyStore, config } = runtime
  const { host, port } = config.simulator
  const numbers: BusinessNumber[] = []
  for (const workspaceId of await listConnectedWorkspaces(db.sql)) {
    const connections = await listConnections(db.sql, await keyStore.keyring(workspaceId), workspaceId)
    const own = connections.filter(({ settings }) => settings.baseUrl === localUrl(host, port))
    numbers.push(...own.flatMap((connection) => settingsOf(runtime, connection) ?? []).map(newNumber))
  }
  return numbers
}

function settingsOf(runtime: OpenRuntime, one: StoredConnection): Partial<BusinessNumber> | null {
  const { name, numberId } = one
  const known = { name, numberId, trustsUnknownWindows: true }
  if (one.channel === 'partner') {
    const { apiKey, webhookToken, signingSecret } = one.settings
    const callbackUrl = `${runtime.config.http.publicUrl}${adaptersOf(runtime).partner.webhookPath(one)}`
    return { ...known, callbackUrl, partner: { apiKey, headers: proofHeaders(webhookToken), signingSecret } }
  }
  // No number is chosen before the setup of a connection.
  if (one.channel !== 'waba' || numberId === one.id) return null
  const { accessToken, appSecret, verifyToken } = one.settings
  const account = one.accountId === null ? {} : { accountId: one.accountId }
  const callbackUrl = callbackOf(runtime, one.id)
  return { ...known, ...account, accessToken, appSecret, verifyToken, callbackUrl }
}

async function connect(runtime: OpenRuntime, simulator: Simulator, workspaceId: string): Promise<void> {
  const { number, url: baseUrl } = simulator
  const { numberId, accountId, accessToken, appSecret, verifyToken } = number
  const input = { name: number.name, numberId, accountId, baseUrl, accessToken, appSecret, verifyToken }
  const connection = await createConnection(depsOf(runtime), systemChanger(workspaceId), { channel: 'waba', ...input })
  number.callbackUrl = callbackOf(runtime, connection.id)
}

// The code is not scanned yet: the user does that with the owner's simulated phone.
async function connectPhone(runtime: OpenRuntime, { url: baseUrl }: Simulator, workspaceId: string): Promise<void> {
  const { db, keyStore } = runtime
  const known = await listConnections(db.sql, await keyStore.keyring(workspaceId), workspaceId)
  if (known.some(({ channel }) => channel === 'unofficial')) return
  await createConnection(depsOf(runtime), systemChanger(workspaceId), {
    channel: 'unofficial',
    name: 'QR demo',
    baseUrl,
  })
}

function depsOf(runtime: OpenRuntime): ConnectionDeps {
  const { db, keyStore, clock, outgoing } = runtime
  return { db, keyStore, clock, outgoing, adapters: adaptersOf(runtime) }
}

const systemChanger = (workspaceId: string): ChangeAuthor => ({
  workspaceId,
  userId: null,
  actor: { type: 'system', id: null },
})

const callbackOf = ({ config }: OpenRuntime, connectionId: string): string =>
  `${localUrl(config.http.host, config.http.port)}/channels/waba/${connectionId}/webhook`
