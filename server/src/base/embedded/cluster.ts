import { execFile, execFileSync, type SpawnSyncOptions, spawn } from 'node:child_process'
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { chown, mkdtemp, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Binaries, dataArgument, type ServerUser, serverEnvironment, serverUser } from './binaries.ts'

interface Postmaster {
  pid: number
  ready: boolean
}

type StopSignal = 'INT' | 'QUIT' | 'KILL'

const pollMs = 10

/** Who claims the cluster by its `postmaster.pid`, dead or alive. */
export async function readPostmaster(clusterFolder: string): Promise<Postmaster | undefined> {
  const lines = (await readFile(join(clusterFolder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  const pid = Number(lines[0])
  return pid > 0 ? { pid, ready: lines[7]?.trim() === 'ready' } : undefined
}

/**
 * Stops the server that a killed program left behind. It is not taken over: its output and its settings belong to
 * a program that is gone. The caller holds the lock of the data folder.
 */
export async function stopOrphan(
  clusterFolder: string,
  binaries: Binaries,
  log: (line: string) => void,
): Promise<void> {
  const orphan = await readPostmaster(clusterFolder)
  if (orphan === undefined) return removeEmptyLock(clusterFolder)
  if (isServerOf(orphan.pid, clusterFolder)) {
    log(`Stopping the database that an earlier run left behind (process ${orphan.pid})`)
    await stopServer(orphan.pid, clusterFolder, binaries)
  }
  // The number may by now belong to an unrelated process (or to a zombie): PostgreSQL would give way to that one.
  if (exists(orphan.pid)) await removeLocks(clusterFolder)
}

/** A server that is killed between making its lock file and writing it leaves one that no server starts over. */
async function removeEmptyLock(clusterFolder: string): Promise<void> {
  const isEmpty = async () => (await readFile(join(clusterFolder, 'postmaster.pid'), 'utf8').catch(() => 'none')) === ''
  if (!(await isEmpty())) return
  // One that is starting just now writes it within microseconds.
  await wait(200)
  if (await isEmpty()) await removeLocks(clusterFolder)
}

async function removeLocks(clusterFolder: string): Promise<void> {
  await rm(join(clusterFolder, 'postmaster.pid'), { force: true })
  await rm(join(clusterFolder, '.s.PGSQL.5432.lock'), { force: true })
}

/** Ends a server: politely (clients are cut off, everything is flushed), then at once, then by force. */
export async function stopServer(pid: number, clusterFolder: string, binaries: Binaries): Promise<void> {
  const steps: [StopSignal, number][] = [
    ['INT', 10_000],
    ['QUIT', 5_000],
    ['KILL', 5_000],
  ]
  for (const [signal, patienceMs] of steps) {
    if (!isServerOf(pid, clusterFolder)) return
    await signalServer(pid, signal, binaries)
    const deadline = performance.now() + patienceMs
    while (performance.now() < deadline) {
      if (!isServerOf(pid, clusterFolder)) return
      await wait(pollMs)
    }
  }
  throw new Error(`The database server (process ${pid}) cannot be stopped`)
}

async function signalServer(pid: number, signal: StopSignal, { pgCtl }: Binaries): Promise<void> {
  // Windows has no signals: PostgreSQL brings its own, sent by pg_ctl.
  if (process.platform === 'win32') {
    await promisify(execFile)(pgCtl, ['kill', signal, String(pid)]).catch(() => undefined)
    return
  }
  try {
    process.kill(pid, `SIG${signal}`)
  } catch {
    // Gone already, which the caller finds out by looking.
  }
}

/** Whether this very process is a PostgreSQL on this very folder: process numbers are used again. */
export function isServerOf(pid: number, clusterFolder: string): boolean {
  try {
    if (process.platform === 'linux') {
      const name = readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
      return name === 'postgres' && readlinkSync(`/proc/${pid}/cwd`) === clusterFolder
    }
    if (process.platform === 'win32') return exists(pid)
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).includes(clusterFolder)
  } catch {
    return false
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

export interface Cluster {
  folder: string
  user: ServerUser
}

interface NewCluster {
  dataFolder: string
  binaries: Binaries
  /** What the server asks for. */
  password: string
  /** Whether a new cluster is flushed to disk; only tests can do without. */
  sync: boolean
  log: (line: string) => void
}

/** The cluster in the data folder, made on the first start. One of an earlier version comes to ask for the password. */
export async function openCluster({ dataFolder, binaries, password, sync, log }: NewCluster): Promise<Cluster> {
  const folder = join(dataFolder, 'postgres')
  await removeUnfinished(dataFolder)
  if (!(await stat(folder).catch(() => undefined))) {
    log('Preparing the database for its first start')
    // Built under another name: a first start that is killed half-way leaves nothing that looks finished. A name of
    // its own, since what that start was running may still be writing.
    const unfinished = await mkdtemp(`${folder}.new-`)
    await createCluster(unfinished, binaries, password, sync)
    await rename(unfinished, folder)
    await flushFolder(dataFolder)
  }
  await checkVersion(folder, binaries)
  const cluster = { folder, user: await userOf(folder) }
  if (!(await asksFor(password, folder))) {
    await stopOrphan(folder, binaries, log)
    await introduce(cluster, binaries, password)
  }
  return cluster
}

/** Has a cluster that is not running ask for the password. Cut short, it is done again by the next start. */
async function introduce({ folder, user }: Cluster, binaries: Binaries, password: string): Promise<void> {
  await runSingle(folder, user, binaries, setPassword(password))
  await writeAccessRules(password, folder, user)
}

function runSingle(folder: string, user: ServerUser, { postgres }: Binaries, input: string): Promise<void> {
  return run(postgres, ['--single', '-D', dataArgument(folder), 'postgres'], { cwd: folder, ...user, input })
}

async function removeUnfinished(dataFolder: string): Promise<void> {
  for (const name of await readdir(dataFolder)) {
    if (!name.startsWith('postgres.new-')) continue
    await rm(join(dataFolder, name), { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined)
  }
}

async function createCluster(folder: string, binaries: Binaries, password: string, sync: boolean): Promise<void> {
  const user = serverUser()
  if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid)

  const data = ['-D', dataArgument(folder)]
  // Until the password is set, which is before the cluster is started for the first time. Nobody but the server's user
  // reaches the socket, which lies in a 0700 folder; there is no TCP.
  const access = ['--auth=trust', '--username=parley']
  const options = { cwd: folder, ...user }
  const flush = sync ? [] : ['--no-sync']
  await run(binaries.initdb, [...data, ...access, ...flush, '--encoding=UTF8', '--no-locale'], options)
  await runSingle(folder, user, binaries, `create database parley\n${setPassword(password)}`)
  await writeAccessRules(password, folder, user)
}

async function run(program: string, args: string[], options: SpawnSyncOptions): Promise<void> {
  const { input, ...rest } = options
  const child = spawn(program, args, { ...rest, env: serverEnvironment(), stdio: 'pipe' })
  child.stdin.on('error', () => undefined)
  child.stdin.end(input ?? '')
  child.stdout.resume()
  const [problem, code] = await Promise.all([
    text(child.stderr),
    new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve)),
  ])
  if (code !== 0) throw new Error(`The database could not be prepared (${program}, exit ${code}): ${problem.trim()}`)
}

async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder)
  await handle.sync()
  await handle.close()
}

async function checkVersion(folder: string, { major }: Binaries): Promise<void> {
  const version = Number(await readFile(join(folder, 'PG_VERSION'), 'utf8'))
  if (version === major) return
  throw new Error(
    `${folder} was written by PostgreSQL ${version}, but this version of Parley brings ${major}. ` +
      'Export it with the version that wrote it, or run that PostgreSQL yourself and set DATABASE_URL.',
  )
}

async function userOf(folder: string): Promise<ServerUser> {
  const current = process.getuid?.()
  const { uid, gid } = await stat(folder)
  // A cluster that a plain user made can also be started by root: it then runs as that user.
  if (current === undefined || uid === current) {
    if (current !== 0) return {}
    throw new Error(`${folder} belongs to root, whom PostgreSQL refuses: run chown -R 65534:65534 ${folder}`)
  }
  if (current === 0) return { uid, gid }
  throw new Error(`${folder} belongs to user ${uid}: run Parley as that user, or give the folder to user ${current}.`)
}

/** The password of the embedded server, made on the first start. Outside of the cluster: the server itself needs none. */
export async function findPassword(dataFolder: string): Promise<string> {
  const file = join(dataFolder, 'postgres.password')
  const kept = await readFile(file, 'utf8').catch(() => '')
  if (/^[\w-]{43}$/.test(kept)) return kept
  const made = randomBytes(32).toString('base64url')
  await writeWhole(file, made, {})
  return made
}

/** Whether the server asks for this very password. */
async function asksFor(password: string, cluster: string): Promise<boolean> {
  return (await readFile(join(cluster, 'pg_hba.conf'), 'utf8').catch(() => '')) === accessRules(password)
}

/** Has the server ask for the password from its next start on. */
function writeAccessRules(password: string, cluster: string, user: ServerUser): Promise<void> {
  return writeWhole(join(cluster, 'pg_hba.conf'), accessRules(password), user)
}

/** The statement that sets the password, on a line of its own; the password itself is not in it. */
function setPassword(password: string): string {
  return `alter role parley password '${verifierOf(password)}'\n`
}

// The digest tells a password file that belongs to another cluster, of a backup for one.
const accessRules = (password: string) =>
  `# Written by Parley for the password ${createHash('sha256').update(password).digest('hex').slice(0, 16)}\nlocal all all scram-sha-256\n`

// Stretching is for what people think up: nobody guesses 256 random bits, and every new connection would pay for it.
const iterations = 1

/** What PostgreSQL keeps of a password, by RFC 5803. */
function verifierOf(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64')
  const serverKey = keyed('Server Key').toString('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`
}

/** A file that is there as a whole or not at all, for its owner alone. */
async function writeWhole(file: string, text: string, { uid, gid }: ServerUser): Promise<void> {
  const unfinished = `${file}.new`
  const handle = await open(unfinished, 'w', 0o600)
  await handle.writeFile(text)
  await handle.sync()
  await handle.close()
  if (uid !== undefined && gid !== undefined) await chown(unfinished, uid, gid)
  await rename(unfinished, file)
}
