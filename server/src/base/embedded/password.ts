import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { chown, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { ServerUser } from './server-user.ts'

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
export async function asksFor(password: string, cluster: string): Promise<boolean> {
  return (await readFile(join(cluster, 'pg_hba.conf'), 'utf8').catch(() => '')) === accessRules(password)
}

/** Has the server ask for the password from its next start on. */
export function writeAccessRules(password: string, cluster: string, user: ServerUser): Promise<void> {
  return writeWhole(join(cluster, 'pg_hba.conf'), accessRules(password), user)
}

/** The statement that sets the password, on a line of its own; the password itself is not in it. */
export function setPassword(password: string): string {
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
