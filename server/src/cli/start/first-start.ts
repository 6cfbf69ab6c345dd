import { setTimeout as wait } from 'node:timers/promises'
import type { Runtime } from '../../app/runtime.ts'
import { scopes } from '../../auth/api-keys/caller.ts'
import { createApiKey, rotateApiKey } from '../../auth/api-keys/change-key.ts'
import { selectApiKeys } from '../../auth/api-keys/queries.ts'
import { createSignInLink } from '../../auth/sign-in/sign-in.ts'
import { createUser } from '../../auth/users/users.ts'
import { isUnavailable, openDb, type Sql, setStatementTimeout, type Tx } from '../../base/db.ts'
import { instanceScope } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { lockNumbers } from '../../base/lease-session.ts'
import type { Member } from '../../team/member.ts'
import { addWorkspace } from '../../workspaces/change.ts'
import { fillDemo } from '../demo/fill.ts'
import type { OpenRuntime } from './runtime.ts'

/** State of the installation when the service started. */
export type FirstStart =
  | { state: 'demo'; workspaceId: string; signInUrl: string; apiKey: string }
  | { state: 'empty' }
  | { state: 'known' }

const longTimeoutMs = 10 * 60_000
const timeoutSettings = ['idle_in_transaction_session_timeout', 'lock_timeout']
const maxAttempts = 20
const demoCountry = 'BR'
/** Long, so that the demo's customers stay with the agent for as long as it may send them texts. */
const demoWatchdogMinutes = 24 * 60
const ownerName = 'Demo Owner'

/**
 * Fills an installation without workspaces with a demo, unless disabled; `connectPhones` gives it a number. Completes a
 * demo that an earlier start left unfinished. Calls `show` with the state, which contains secrets that are not stored
 * elsewhere; a demo counts as complete once they are shown. Also resolves if `givenUp` is aborted before completion.
 */
export async function prepareFirstStart(
  runtime: OpenRuntime,
  connectPhones: (workspaceId: string) => Promise<void>,
  show: (start: FirstStart) => void,
  cancelled: AbortSignal,
): Promise<void> {
  // This transaction only holds the lock, on its own connection. Each step commits separately and can be repeated.
  const lockDb = openDb({ ...runtime.dbOptions, maxConnections: 1 })
  cancelled.addEventListener('abort', () => void lockDb.close())
  try {
    await retryWhileUnavailable(() => lockDb.tx((lock) => startWithLock(lock, runtime, connectPhones, show)), cancelled)
  } catch (error) {
    // The next start completes the rest.
    if (!cancelled.aborted) throw error
  } finally {
    await lockDb.close()
  }
}

/** Retries while the database is unavailable: requests are already being served, so the service must not exit. */
async function retryWhileUnavailable(work: () => Promise<void>, cancelled: AbortSignal): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isUnavailable(error) || attempt === maxAttempts || cancelled.aborted) throw error
      await wait(attempt * 100)
    }
  }
}

async function startWithLock(
  lock: Tx,
  runtime: OpenRuntime,
  connectPhones: (workspaceId: string) => Promise<void>,
  show: (start: FirstStart) => void,
): Promise<void> {
  const { db, keyStore, config } = runtime
  // On a slow machine the steps can exceed the idle timeout of a transaction, and other nodes that wait for the lock
  // the statement timeout.
  await setStatementTimeout(lock, longTimeoutMs)
  await lock`select set_config(name, ${longTimeoutMs}, true) from unnest(${timeoutSettings}::text[]) as name`
  // Of several nodes that start concurrently on one database, only one creates the demo.
  await lock`select pg_advisory_xact_lock(${lockNumbers.firstStart}::bigint)`
  const unfinishedDemo = await findUnfinishedDemo(lock)
  if (unfinishedDemo === undefined && (await hasWorkspace(lock))) return show({ state: 'known' })
  if (!config.demo) return show({ state: unfinishedDemo === undefined ? 'empty' : 'known' })

  const instanceKeys = await keyStore.keyring(instanceScope)
  const demo = unfinishedDemo ?? (await db.tx((tx) => addDemo(tx, runtime, instanceKeys)))
  await fillDemo(runtime, ownerOf(demo))
  const secrets = await db.tx((tx) => createSecrets(tx, runtime, demo))
  await connectPhones(demo.workspaceId)
  show({ state: 'demo', workspaceId: demo.workspaceId, ...secrets })
  await db.tx((tx) => markFilled(tx, demo))
}

interface Demo {
  workspaceId: string
  ownerId: string
}

async function hasWorkspace(sql: Sql): Promise<boolean> {
  const [row] = await sql`
    select id
    from workspaces
    limit 1`
  return row !== undefined
}

async function findUnfinishedDemo(sql: Sql): Promise<Demo | undefined> {
  const [demo] = await sql<Demo[]>`
    select w.id as "workspaceId", m.user_id as "ownerId"
    from workspaces w
    join members m on m.workspace_id = w.id
    where w.demo_is_filled = false
    limit 1`
  return demo
}

async function addDemo(tx: Tx, { keyStore, clock }: Runtime, instanceKeys: Keyring): Promise<Demo> {
  const now = clock.now()
  const person = { name: ownerName, email: 'owner@example.com', passwordHash: null, isOperator: true }
  const ownerId = await createUser(tx, instanceKeys, person, now)
  const input = {
    name: 'Demo',
    defaultCountry: demoCountry,
    agentWatchdogMinutes: demoWatchdogMinutes,
    ownerId,
    createdBy: { type: 'system', id: null },
  } as const
  const { id: workspaceId } = await addWorkspace(tx, keyStore, input, now)
  await tx`
    update workspaces
    set demo_is_filled = false
    where id = ${workspaceId}`
  return { workspaceId, ownerId }
}

async function markFilled(tx: Tx, { workspaceId }: Demo): Promise<void> {
  await tx`
    update workspaces
    set demo_is_filled = true
    where id = ${workspaceId}`
}

// A key from an earlier start was never shown, but may own conversations by now, so it gets a new value.
async function createSecrets(tx: Tx, { clock, config }: Runtime, { workspaceId, ownerId }: Demo) {
  const now = clock.now()
  const [known] = await selectApiKeys(tx, workspaceId)
  const { value: apiKey } =
    known === undefined
      ? await createApiKey(tx, { workspaceId, name: 'Demo key', scopes, createdBy: ownerId }, now)
      : await rotateApiKey(tx, workspaceId, known.id, null, now)
  const { url: signInUrl } = await createSignInLink(tx, config.http.publicUrl, ownerId, now)
  return { signInUrl, apiKey }
}

const ownerOf = ({ workspaceId, ownerId }: Demo): Member => ({
  userId: ownerId,
  tokenId: null,
  tokenWorkspaceId: null,
  creatorId: ownerId,
  sessionId: null,
  name: ownerName,
  isOperator: true,
  actor: { type: 'user', id: ownerId },
  workspaceId,
  role: 'owner',
  workspace: { defaultCountry: demoCountry, leadsEnabled: true, inboxEnabled: true, inboxAvailable: true },
})
