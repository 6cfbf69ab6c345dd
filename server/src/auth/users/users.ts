import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import { type Db, type Sql, type Tx, violates } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { type ApiError, conflict } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import { emailKey, emailKeys } from '../../base/text/email.ts'
import type { Language } from '../../base/text/languages.ts'
import type { Mailer } from '../../mail/mailer.ts'
import type { Passwords } from './passwords.ts'

interface Person {
  name: string
  email: string
}

export interface UserRow {
  id: string
  person: Buffer
  password_hash: string | null
  totp_secret: Buffer | null
  totp_confirmed_at: Date | null
  is_operator: boolean
  /** Language of the app and of mails; null if unknown. */
  language: Language | null
  disabled_at: Date | null
  /** The identity provider that created the account; null if none did. */
  managed_by: string | null
}

interface NewUser extends Person {
  passwordHash: string | null
  isOperator: boolean
  managedBy?: string | null
}

/** Adds a user and returns its id. `instanceKeys` are the keys of the instance. Throws 409 if the e-mail is in use. */
export async function createUser(tx: Tx, instanceKeys: Keyring, user: NewUser, now: Date): Promise<string> {
  const id = newId(now)
  // The unique index cannot match an e-mail stored under another key: with a former spelling, or during a rotation of
  // the index key.
  const [lowest] = emailIndexes(instanceKeys, user.email)
  await tx`select pg_advisory_xact_lock(${String(lowest?.readBigInt64BE(0) ?? 0)}::bigint)`
  if ((await findUserByEmail(tx, instanceKeys, user.email)) !== undefined) throw emailTaken()
  try {
    await tx`
      insert into users (id, person, email_index, index_version, password_hash, is_operator, created_at, managed_by)
      values (
        ${id},
        ${encryptPerson(instanceKeys, id, user)},
        ${emailIndex(instanceKeys, user.email)},
        ${instanceKeys.indexVersion},
        ${user.passwordHash},
        ${user.isOperator},
        ${now},
        ${user.managedBy ?? null}
      )`
  } catch (error) {
    if (violates(error, 'users_email_key')) throw emailTaken(error)
    throw error
  }
  return id
}

const columns = (sql: Sql) => sql`
  id, person, password_hash, totp_secret, totp_confirmed_at, is_operator, language, disabled_at, managed_by`

export async function findUser(sql: Sql, userId: string): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`
    select ${columns(sql)}
    from users
    where id = ${userId}`
  return row
}

export async function findUserByEmail(sql: Sql, instanceKeys: Keyring, email: string): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`
    select ${columns(sql)}
    from users
    where email_index = any (${byteaArray(emailIndexes(instanceKeys, email))}::bytea[])`
  return row
}

/** Throws 409 if another user has the e-mail. */
export async function changePerson(
  tx: Tx,
  instanceKeys: Keyring,
  userId: string,
  change: Partial<Person>,
): Promise<void> {
  const [row] = await tx<{ person: Buffer }[]>`
    select person
    from users
    where id = ${userId}
    for update`
  if (row === undefined) return
  const before = decryptPerson(instanceKeys, userId, row.person)
  const after = { ...before, ...change }
  if (emailKey(after.email) !== emailKey(before.email)) {
    const other = await findUserByEmail(tx, instanceKeys, after.email)
    if (other !== undefined && other.id !== userId) throw emailTaken()
  }
  try {
    await tx`
      update users
      set person = ${encryptPerson(instanceKeys, userId, after)},
        email_index = ${emailIndex(instanceKeys, after.email)},
        index_version = ${instanceKeys.indexVersion}
      where id = ${userId}`
  } catch (error) {
    if (violates(error, 'users_email_key')) throw emailTaken(error)
    throw error
  }
}

export async function setPasswordHash(tx: Tx, userId: string, passwordHash: string): Promise<void> {
  await tx`
    update users
    set password_hash = ${passwordHash}
    where id = ${userId}`
}

export async function setLanguage(tx: Tx, userId: string, language: Language): Promise<void> {
  await tx`
    update users
    set language = ${language}
    where id = ${userId}`
}

export function decryptPerson(instanceKeys: Keyring, userId: string, encrypted: Uint8Array): Person {
  return JSON.parse(instanceKeys.decryptText(personContext(userId), encrypted)) as Person
}

const emailLabel = 'users.email'

const personContext = (userId: string) => ({ table: 'users', row: userId, column: 'person' })

function encryptPerson(instanceKeys: Keyring, userId: string, { name, email }: Person): Buffer {
  return instanceKeys.encrypt(personContext(userId), JSON.stringify({ name, email }))
}

export function emailIndex(instanceKeys: Keyring, email: string): Buffer {
  return instanceKeys.exact(emailLabel, emailKey(email))
}

function emailIndexes(instanceKeys: Keyring, email: string): Buffer[] {
  return emailKeys(email).flatMap((key) => instanceKeys.exacts(emailLabel, key))
}

const emailTaken = (cause?: unknown): ApiError =>
  conflict('A user with this e-mail already exists', { field: 'email' }, cause)

/** Dependencies of the team operations in this module. */
export interface TeamDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  /** Clock for sessions, links, codes and attempts. Browsers use real time, even if the simulator has moved `clock`. */
  wallClock: Clock
  /** Milliseconds without use after which a session ends. */
  sessionIdleMs: number
  passwords: Passwords
  /** Base of links, without a trailing slash. */
  publicUrl: string
  /** Sends mail; null or missing if no mail server is set up. */
  mailer?: Mailer | null
  /** Returns the client's address, taking trusted proxies into account; null if unknown. */
  clientAddressOf(request: IncomingMessage): string | null
}

/** The browser that signs in. */
export interface Visitor {
  address: string | null
  device: string
  /** Token of the session that the browser already has. */
  sessionToken: string | null
  /** Token that an earlier sign-in stored in the browser. */
  deviceToken: string | null
}
