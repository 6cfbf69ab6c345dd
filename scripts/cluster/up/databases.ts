import { execFile } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readDatabaseUrl } from '../../../server/src/base/postgres/address.ts'
import { connect } from '../../../server/src/base/postgres/connect.ts'
import { addressOf, type Database, databases, ports, range, urlOf } from '../machines.ts'
import { postgresFolder } from '../packages.ts'
import { dataFolder, type State, stateOfCluster } from '../place.ts'
import { killMachine, startOn, until } from '../processes.ts'

/** How long the one who is primary may be silent before another takes its place. */
export const ttlSeconds = 20
export const loopSeconds = 2
const user = 'postgres'

/** What Patroni says of one of its servers. */
export interface Member {
  name: Database
  role: 'leader' | 'sync_standby' | 'replica'
  state: string
  lag?: number | string
  timeline?: number
}

/** Where Patroni's servers write down who is primary. */
export function startKeeper(): void {
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
    writeFileSync(config, JSON.stringify(patroniConfig(name, stateOfCluster()), null, 2), { mode: 0o600 })
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
  // Debian's package gives this folder to the user that it makes.
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
    // YAML is what Patroni reads, and JSON is YAML.
    restapi: {
      listen: `${addressOf(name)}:${ports.patroni}`,
      connect_address: `${addressOf(name)}:${ports.patroni}`,
      authentication: { username: 'patroni', password: secrets.patroni },
    },
    // By etcd's older interface Patroni takes the lock only from itself. By the newer one, 3.0.2 takes it from anybody: a primary that was
    // frozen and goes on becomes the primary again, and what the one in its place has acknowledged is gone.
    etcd: { host: `${addressOf('keeper')}:${ports.etcd}` },
    bootstrap: { dcs, initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'] },
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
      // A copy would wait for the checkpoint that comes by itself.
      basebackup: [{ checkpoint: 'fast' }],
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
  }
}

/** The same for all servers: what is acknowledged is on two of them, whatever happens. */
const dcs = {
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
      // How long a standby whose primary is gone goes on looking for it before it looks whether it is to be the next.
      wal_retrieve_retry_interval: '500ms',
    },
  },
}

/** What those that answer say; empty when nobody does. */
export async function members(): Promise<Member[]> {
  const answers = databases.map(async (name) => {
    const reply = await fetch(`${urlOf(name, ports.patroni)}/cluster`, { signal: AbortSignal.timeout(3_000) })
    return ((await reply.json()) as { members: Member[] }).members
  })
  return Promise.any(answers).catch(() => [])
}

/** Once there is a primary with two who follow it, one of them so closely that it may take its place. */
export async function settled(patienceMs = 120_000): Promise<Database> {
  let leader: Database | undefined
  await until(
    async () => {
      const all = await members()
      leader = all.find(({ role, state }) => role === 'leader' && state === 'running')?.name
      const timeline = all.find(({ name }) => name === leader)?.timeline
      const following = all.filter((one) => one.role !== 'leader' && one.timeline === timeline && follows(one))
      return leader !== undefined && following.length === 2 && following.some(({ role }) => role === 'sync_standby')
    },
    'a primary and two that follow it',
    patienceMs,
  )
  if (leader === undefined) throw new Error('There is one')
  return leader
}

/** Of those that are not primary the ones that do not follow it. */
export async function strayed(): Promise<Database[]> {
  const all = await members()
  const timeline = all.find(({ role }) => role === 'leader')?.timeline
  const well = all.filter((one) => one.role === 'leader' || (one.timeline === timeline && follows(one)))
  return databases.filter((name) => !well.some((one) => one.name === name))
}

/** Has a server copy the primary anew, whatever it has. */
export async function renewDatabase(name: Database): Promise<void> {
  await killMachine(name)
  rmSync(postgresData(name), { recursive: true, force: true })
  startDatabase(name)
}

// Older and newer versions have other words for it.
const follows = ({ state, lag }: Member): boolean => ['running', 'streaming'].includes(state) && lag !== 'unknown'

/** Makes the standby of that moment the primary, in good order; resolves with it once Patroni has done so. */
export async function switchOver(): Promise<Database> {
  const all = await members()
  const from = all.find(({ role }) => role === 'leader')?.name
  const to = all.find(({ role }) => role === 'sync_standby')?.name
  if (from === undefined || to === undefined) throw new Error('There are no two that could change places')
  const words = ['--config-file', configFile(from), 'switchover', 'parley']
  // Called leader from Patroni 3.1 on, which knows the older name too.
  await promisify(execFile)('patronictl', [...words, '--master', from, '--candidate', to, '--force'])
  return to
}

export function postmasterOf(name: Database): number {
  return Number(readFileSync(join(postgresData(name), 'postmaster.pid'), 'utf8').split('\n')[0])
}

const hosts = databases.map((name) => `${addressOf(name)}:${ports.postgres}`).join()

export const databaseUrl = `postgres://parley@${hosts}/parley?sslmode=disable`

/** Parley's own role and database, as docs/operations.md has them made. */
export async function makeDatabase(): Promise<void> {
  const { postgres, parley } = stateOfCluster().secrets
  const address = readDatabaseUrl(`postgres://postgres@${hosts}/postgres?sslmode=disable`, { PGPASSWORD: postgres })
  const client = await connect(address, { applicationName: 'cluster', parameters: {} })
  await client.query(`create role parley login password '${parley}'`)
  await client.query(`create database parley owner parley encoding 'UTF8'`)
  await client.end()
}
