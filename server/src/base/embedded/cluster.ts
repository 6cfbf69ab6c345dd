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

/** Returns the process that claims the cluster in `postmaster.pid`; it may be dead. */
export async function readPostmaster(clusterFolder: string): Promise<Postmaster | undefined> {
  const lines = (await readFile(join(clusterFolder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  const pid = Number(lines[0])
  return pid > 0 ? { pid, ready: lines[7]?.trim() === 'ready' } : undefined
}

/**
 * Stops the server that a killed program left running. It can't be reused, because its output and settings belong to
 * that program. The caller holds the lock of the data folder.
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
  // The pid may belong to an unrelated process or a zombie by now, and PostgreSQL would refuse to start.
  if (exists(orphan.pid)) await removeLocks(clusterFolder)
}

/** Removes an empty lock file, which a server killed during its start leaves, and which blocks every later start. */
async function removeEmptyLock(clusterFolder: string): Promise<void> {
  const isEmpty = async () => (await readFile(join(clusterFolder, 'postmaster.pid'), 'utf8').catch(() => 'none')) === ''
  if (!(await isEmpty())) return
  // A server that is starting writes it within microseconds.
  await wait(200)
  if (await isEmpty()) await removeLocks(clusterFolder)
}

async function removeLocks(clusterFolder: string): Promise<void> {
  await rm(join(clusterFolder, 'postmaster.pid'), { force: true })
  await rm(join(clusterFolder, '.s.PGSQL.5432.lock'), { force: true })
}

/** Stops a server: fast (disconnects clients, flushes everything), then immediate, then by SIGKILL. */
export async function stopServer(pid: number, clusterFolder: string, binaries: Binaries): Promise<void> {
  const steps: [StopSignal, number][] = [
    ['INT', 10_000],
    ['QUIT', 5_000],
    ['KILL', 5_000],
  ]
  for (const [signal, timeoutMs] of steps) {
    if (!isServerOf(pid, clusterFolder)) return
    await signalServer(pid, signal, binaries)
    const deadline = performance.now() + timeoutMs
    while (performance.now() < deadline) {
      if (!isServerOf(pid, clusterFolder)) return
      await wait(pollMs)
    }
  }
  throw new Error(`The database server (process ${pid}) cannot be stopped`)
}

async function signalServer(pid: number, signal: StopSignal, { pgCtl }: Binaries): Promise<void> {
  // Windows has no signals: PostgreSQL emulates them with pg_ctl.
  if (process.platform === 'win32') {
    await promisify(execFile)(pgCtl, ['kill', signal, String(pid)]).catch(() => undefined)
    return
  }
  try {
    process.kill(pid, `SIG${signal}`)
  } catch {
    // Already ended; the caller checks.
  }
}

/** Returns true if the process is a PostgreSQL on this folder: process ids are reused. */
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
  /** Password that the server requires. */
  password: string
  /** Whether a new cluster is flushed to disk; only tests skip it. */
  sync: boolean
  log: (line: string) => void
}

/** Opens the cluster in the data folder, or creates it. Sets a password on clusters of earlier versions. */
export async function openCluster({ dataFolder, binaries, password, sync, log }: NewCluster): Promise<Cluster> {
  const folder = join(dataFolder, 'postgres')
  await removeUnfinished(dataFolder)
  if (!(await stat(folder).catch(() => undefined))) {
    log('Preparing the database for its first start')
    // Created under a temporary name, so that an interrupted first start leaves nothing that looks complete. The name
    // is unique, because processes of the interrupted start may still be writing.
    const unfinished = await mkdtemp(`${folder}.new-`)
    await createCluster(unfinished, binaries, password, sync)
    await rename(unfinished, folder)
    await flushFolder(dataFolder)
  }
  await checkVersion(folder, binaries)
  const cluster = { folder, user: await userOf(folder) }
  if (!(await requiresPassword(password, folder))) {
    await stopOrphan(folder, binaries, log)
    await requirePassword(cluster, binaries, password)
  }
  return cluster
}

/** Makes a stopped cluster require the password. If interrupted, the next start repeats it. */
async function requirePassword({ folder, user }: Cluster, binaries: Binaries, password: string): Promise<void> {
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
  // Applies until the password is set, before the cluster starts for the first time. Only the server's user can reach
  // the socket, in a folder of mode 0700; there is no TCP.
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
  const [stderr, code] = await Promise.all([
    text(child.stderr),
    new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve)),
  ])
  if (code !== 0) throw new Error(`Failed to prepare the database (${program}, exit ${code}): ${stderr.trim()}`)
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
    `${folder} was written by PostgreSQL ${version}, but this version of Parley includes ${major}. ` +
      'Export it with the version that wrote it, or run that PostgreSQL yourself and set DATABASE_URL.',
  )
}

async function userOf(folder: string): Promise<ServerUser> {
  const current = process.getuid?.()
  const { uid, gid } = await stat(folder)
  // Root can start a cluster of another user, and runs it as that user.
  if (current === undefined || uid === current) {
    if (current !== 0) return {}
    throw new Error(`${folder} belongs to root, and PostgreSQL refuses to run as root: chown -R 65534:65534 ${folder}`)
  }
  if (current === 0) return { uid, gid }
  throw new Error(`${folder} belongs to user ${uid}: run Parley as that user, or give the folder to user ${current}.`)
}

/** Returns the password of the embedded server; creates it on the first start. Stored outside the cluster. */
export async function findPassword(dataFolder: string): Promise<string> {
  const file = join(dataFolder, 'postgres.password')
  const stored = await readFile(file, 'utf8').catch(() => '')
  if (/^[\w-]{43}$/.test(stored)) return stored
  const created = randomBytes(32).toString('base64url')
  await writeAtomically(file, created, {})
  return created
}

/** Returns true if the server requires this password. */
async function requiresPassword(password: string, cluster: string): Promise<boolean> {
  return (await readFile(join(cluster, 'pg_hba.conf'), 'utf8').catch(() => '')) === accessRules(password)
}

/** Makes the server require the password from its next start. */
function writeAccessRules(password: string, cluster: string, user: ServerUser): Promise<void> {
  return writeAtomically(join(cluster, 'pg_hba.conf'), accessRules(password), user)
}

/** SQL that sets the password, on one line; it contains a verifier instead of the password. */
function setPassword(password: string): string {
  return `alter role parley password '${verifierOf(password)}'\n`
}

// The digest detects a password file of another cluster, for example from a backup.
const accessRules = (password: string) =>
  `# Written by Parley for the password ${createHash('sha256').update(password).digest('hex').slice(0, 16)}\nlocal all all scram-sha-256\n`

// No key stretching: 256 random bits can't be guessed, and every new connection would pay for it.
const iterations = 1

/** Returns PostgreSQL's verifier for a password, as in RFC 5803. */
function verifierOf(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64')
  const serverKey = keyed('Server Key').toString('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`
}

/** Writes a file atomically, readable only by its owner. */
async function writeAtomically(file: string, text: string, { uid, gid }: ServerUser): Promise<void> {
  const unfinished = `${file}.new`
  const handle = await open(unfinished, 'w', 0o600)
  await handle.writeFile(text)
  await handle.sync()
  await handle.close()
  if (uid !== undefined && gid !== undefined) await chown(unfinished, uid, gid)
  await rename(unfinished, file)
}
