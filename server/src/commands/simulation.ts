import type { Sql } from '../base/db.ts'
import { type Changer, createConnection } from '../channels/change.ts'
import type { StoredWaba } from '../channels/connection.ts'
import { openDrivers } from '../channels/drivers.ts'
import { listConnections, listWabaWorkspaces } from '../channels/queries.ts'
import { seedDemo } from '../channels/simulator/seed-demo.ts'
import { type Simulator, startSimulator } from '../channels/simulator/simulator.ts'
import { type BusinessNumber, newNumber } from '../channels/simulator/world.ts'
import type { OpenHouse } from './house.ts'
import { localUrl } from './server-file.ts'

export interface Simulation {
  /** Where the phones are; null without a simulator. */
  phonesUrl: string | null
  /** Gives a workspace the simulated number, and lets its customers write. */
  connect(workspaceId: string): Promise<void>
  stop(): Promise<void>
}

export const noSimulation: Simulation = { phonesUrl: null, connect: async () => {}, stop: async () => {} }

/** Starts the simulator beside the service, when the settings want it. A port that is taken costs the phones only. */
export async function startSimulation(house: OpenHouse, say: (line: string) => void): Promise<Simulation> {
  const { config, log, simulatedClock: clock } = house
  if (clock === null) return noSimulation
  const { host, port } = config.simulator
  const known = await connectedNumbers(house)
  try {
    const ownHosts = [new URL(config.http.publicUrl).hostname]
    const simulator = await startSimulator({ port, host, ownHosts, clock, log, ...(known[0] && { number: known[0] }) })
    for (const number of known) simulator.platform.world.numbers.set(number.numberId, number)
    // A first start may have been killed before its customers were heard.
    if (known.length > 0) seedDemo(simulator, { speak: config.demo && !(await hasConversation(house.db.sql)) })
    return {
      phonesUrl: `${simulator.url}/phone`,
      // A demo whose first start was killed may have its number already.
      connect: async (workspaceId) => (known.length > 0 ? undefined : connect(house, simulator, workspaceId)),
      stop: simulator.stop,
    }
  } catch (error) {
    log.warn('simulator not started', { port }, error)
    say(`The simulated phones have not started: port ${port} cannot be had. Choose another by PARLEY_SIMULATOR_PORT.`)
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

/** The numbers that workspaces have connected here before: the simulator forgets, their connections do not. */
async function connectedNumbers(house: OpenHouse): Promise<BusinessNumber[]> {
  const { db, vault, config } = house
  const { host, port } = config.simulator
  const numbers: BusinessNumber[] = []
  for (const workspaceId of await listWabaWorkspaces(db.sql)) {
    const connections = await listConnections(db.sql, await vault.keyring(workspaceId), workspaceId)
    const own = connections
      .filter((one) => one.channel === 'waba')
      .filter(({ settings }) => settings.baseUrl === localUrl(host, port))
    numbers.push(...own.map((connection) => numberOf(house, connection)))
  }
  return numbers
}

function numberOf(house: OpenHouse, { id, name, numberId, accountId, settings }: StoredWaba): BusinessNumber {
  const { accessToken, appSecret, verifyToken } = settings
  return newNumber({
    name,
    numberId,
    ...(accountId === null ? {} : { accountId }),
    accessToken,
    appSecret,
    verifyToken,
    callbackUrl: callbackOf(house, id),
    trustsUnknownWindows: true,
  })
}

async function connect(house: OpenHouse, simulator: Simulator, workspaceId: string): Promise<void> {
  const { config, db, vault, clock, outgoing } = house
  const { number, url: baseUrl } = simulator
  const deps = { db, vault, clock, outgoing, drivers: openDrivers(house, config.http.publicUrl) }
  const by: Changer = { workspaceId, userId: null, actor: { type: 'system', id: null } }
  const { numberId, accountId, accessToken, appSecret, verifyToken } = number
  const input = { name: number.name, numberId, accountId, baseUrl, accessToken, appSecret, verifyToken }
  const connection = await createConnection(deps, by, { channel: 'waba', ...input })
  number.callbackUrl = callbackOf(house, connection.id)
  seedDemo(simulator, { speak: true })
}

const callbackOf = ({ config }: OpenHouse, connectionId: string): string =>
  `${localUrl(config.http.host, config.http.port)}/channels/waba/${connectionId}/webhook`
