import { execFile } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseDatabaseUrl } from '../../../server/src/base/postgres/address.ts'
import { connect } from '../../../server/src/base/postgres/connect.ts'
import { dataFolder, requireState, type State } from '../cluster-folder.ts'
import { addressOf, type Database, databases, ports, range, urlOf } from '../machines.ts'
import { postgresFolder } from '../packages.ts'
import { killMachine, startOn, until } from '../processes.ts'

/** Seconds that the primary may be silent before a standby is promoted. */
export const ttlSeconds = 20
export const loopSeconds = 2
const user = 'postgres'

/** Server as Patroni's API describes it. */
export interface Member {
  name: Database
  role: 'leader' | 'sync_standby' | 'replica'
  state: string
  lag?: number | string
  timeline?: number
}

/** Starts etcd, where Patroni stores which server is primary. */
export function startEtcd(): void {
  const url = urlOf('keeper', ports.etcd)
  const argv = [
    'etcd',
    '--enable-v2',
    '--data-dir',
    dataFolder('keeper'),
    '--listen-client-urls',
    url,
    '--advertise-client-urls',
    url,
  ]
  startOn('keeper', { name: 'keeper', argv })
}

export function startDatabase(name: Database): void {
  const config = configFile(name)
  if (!existsSync(config)) {
    writeFileSync(config, JSON.stringify(patroniConfig(name, requireState()), null, 2), { mode: 0o600 })
    const { uid, gid } = userOfDatabases()
    chownSync(config, uid, gid)
    chownSync(homeOf(name), uid, gid)
  }
  startOn(name, { name, argv: ['patroni', config], user, env: { HOME: homeOf(name) } })
}

const homeOf = (name: Database): string => dataFolder(name)
const configFile = (name: Database): string => join(homeOf(name), 'patroni.yml')
const postgresData = (name: Database): string => join(homeOf(name), 'postgres')

function userOfDatabases(): { uid: number; gid: number } {
  // Debian's package creates this folder, owned by the postgres user.
  const { uid, gid } = statSync('/var/lib/postgresql')
  return { uid, gid }
}

function patroniConfig(name: Database, { secrets }: State): object {
  const home = homeOf(name)
  const bin = postgresFolder()
  if (bin === null) throw new Error('PostgreSQL is missing')
  const sockets = join(home, 'sockets')
  mkdirSync(sockets, { recursive: true })
  const { uid, gid } = userOfDatabases()
  chownSync(sockets, uid, gid)
  return {
    scope: 'parley',
    name,
    // Patroni reads YAML, and JSON is valid YAML.
    restapi: {
      listen: `${addressOf(name)}:${ports.patroni}`,
      connect_address: `${addressOf(name)}:${ports.patroni}`,
      authentication: { username: 'patroni', password: secrets.patroni },
    },
    // With etcd's v2 API Patroni takes the lock only from itself. With v3, Patroni 3.0.2 takes it from any server: a
    // frozen primary that resumes becomes primary again, and changes acknowledged by its replacement are lost.
    etcd: { host: `${addressOf('keeper')}:${ports.etcd}` },
    // The names are Patroni's.
    bootstrap: { dcs: sharedConfig, initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'] },
    postgresql: {
      listen: `${addressOf(name)}:${ports.postgres}`,
      connect_address: `${addressOf(name)}:${ports.postgres}`,
      data_dir: postgresData(name),
      bin_dir: bin,
      pgpass: join(home, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres', password: secrets.postgres },
        replication: { username: 'replication', password: secrets.replication },
      },
      parameters: { unix_socket_directories: sockets, password_encryption: 'scram-sha-256' },
      pg_hba: [
        'local all postgres peer',
        `host replication replication ${range} scram-sha-256`,
        `host all all ${range} scram-sha-256`,
      ],
      // Otherwise the copy waits for the next scheduled checkpoint.
      basebackup: [{ checkpoint: 'fast' }],
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
  }
}

/** Shared configuration: an acknowledged commit is always on two servers. */
const sharedConfig = {
  ttl: ttlSeconds,
  loop_wait: loopSeconds,
  retry_timeout: 5,
  synchronous_mode: true,
  synchronous_mode_strict: true,
  postgresql: {
    use_pg_rewind: true,
    parameters: {
      max_connections: 200,
      shared_buffers: '128MB',
      wal_keep_size: '512MB',
      // Time for which a standby without a primary keeps trying to connect before it checks for promotion.
      wal_retrieve_retry_interval: '500ms',
    },
  },
}

/** Returns the members as a reachable server reports them; empty if none answers. */
export async function members(): Promise<Member[]> {
  const answers = databases.map(async (name) => {
    const reply = await fetch(`${urlOf(name, ports.patroni)}/cluster`, { signal: AbortSignal.timeout(3_000) })
    return ((await reply.json()) as { members: Member[] }).members
  })
  return Promise.any(answers).catch(() => [])
}

/** Resolves when there is a primary with two replicas, one of them synchronous and so eligible for promotion. */
export async function waitUntilSettled(timeoutMs = 120_000): Promise<Database> {
  let leader: Database | undefined
  await until(
    async () => {
      const all = await members()
      leader = all.find(({ role, state }) => role === 'leader' && state === 'running')?.name
      const timeline = all.find(({ name }) => name === leader)?.timeline
      const following = all.filter((one) => one.role !== 'leader' && one.timeline === timeline && isReplicating(one))
      return leader !== undefined && following.length === 2 && following.some(({ role }) => role === 'sync_standby')
    },
    'a primary with two replicas',
    timeoutMs,
  )
  if (leader === undefined) throw new Error('No primary found')
  return leader
}

/** Returns the standbys that do not replicate. */
export async function findStrayedStandbys(): Promise<Database[]> {
  const all = await members()
  const timeline = all.find(({ role }) => role === 'leader')?.timeline
  const well = all.filter((one) => one.role === 'leader' || (one.timeline === timeline && isReplicating(one)))
  return databases.filter((name) => !well.some((one) => one.name === name))
}

/** Replaces a server's data with a new copy of the primary. */
export async function recopyDatabase(name: Database): Promise<void> {
  await killMachine(name)
  rmSync(postgresData(name), { recursive: true, force: true })
  startDatabase(name)
}

// Versions of Patroni name this state differently.
const isReplicating = ({ state, lag }: Member): boolean => ['running', 'streaming'].includes(state) && lag !== 'unknown'

/** Promotes the current synchronous standby by a planned switchover; resolves when Patroni has done it. */
export async function switchOver(): Promise<Database> {
  const all = await members()
  const from = all.find(({ role }) => role === 'leader')?.name
  const to = all.find(({ role }) => role === 'sync_standby')?.name
  if (from === undefined || to === undefined) throw new Error('No primary with a synchronous standby found')
  const words = ['--config-file', configFile(from), 'switchover', 'parley']
  // Called leader since Patroni 3.1, which still accepts the older name.
  await promisify(execFile)('patronictl', [...words, '--master', from, '--candidate', to, '--force'])
  return to
}

export function postmasterOf(name: Database): number {
  return Number(readFileSync(join(postgresData(name), 'postmaster.pid'), 'utf8').split('\n')[0])
}

const hosts = databases.map((name) => `${addressOf(name)}:${ports.postgres}`).join()

export const databaseUrl = `postgres://parley@${hosts}/parley?sslmode=disable`

/** Creates Parley's role and database as described in docs/operations.md. */
export async function makeDatabase(): Promise<void> {
  const { postgres, parley } = requireState().secrets
  const address = parseDatabaseUrl(`postgres://postgres@${hosts}/postgres?sslmode=disable`, { PGPASSWORD: postgres })
  const client = await connect(address, { applicationName: 'cluster', parameters: {} })
  await client.query(`create role parley login password '${parley}'`)
  await client.query(`create database parley owner parley encoding 'UTF8'`)
  await client.end()
}
