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

/** What the installation was when the service came up. */
export type FirstStart =
  | { state: 'demo'; workspaceId: string; signInUrl: string; apiKey: string }
  | { state: 'empty' }
  | { state: 'known' }

const patientMs = 10 * 60_000
const patient = ['idle_in_transaction_session_timeout', 'lock_timeout']
const maxAttempts = 20
const demoCountry = 'BR'
/** Its customers wait for whoever reads on first: they are the agent's for as long as it may send them texts. */
const demoWatchdogMinutes = 24 * 60
const ownerName = 'Demo Owner'

/**
 * Gives an installation without workspaces its demo, unless the settings say otherwise; `connectPhones` gives it a number.
 * A demo that an earlier start could not finish is finished. `show` is told what the
 * installation was, with secrets that are nowhere else; a demo counts as finished once they are shown. Resolves also when it is
 * `givenUp` before its end.
 */
export async function prepareFirstStart(
  runtime: OpenRuntime,
  connectPhones: (workspaceId: string) => Promise<void>,
  show: (start: FirstStart) => void,
  givenUp: AbortSignal,
): Promise<void> {
  // The transaction only holds the lock, on a connection of its own: each step commits by itself, and may be done again.
  const alone = openDb({ ...runtime.dbOptions, maxConnections: 1 })
  givenUp.addEventListener('abort', () => void alone.close())
  try {
    await whileAway(() => alone.tx((lock) => startUnder(lock, runtime, connectPhones, show)), givenUp)
  } catch (error) {
    // The next start does what this one has left.
    if (!givenUp.aborted) throw error
  } finally {
    await alone.close()
  }
}

/** A database that dies in the midst of it comes back; requests are answered meanwhile, so the service must not end. */
async function whileAway(work: () => Promise<void>, givenUp: AbortSignal): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isUnavailable(error) || attempt === maxAttempts || givenUp.aborted) throw error
      await wait(attempt * 100)
    }
  }
}

async function startUnder(
  lock: Tx,
  runtime: OpenRuntime,
  connectPhones: (workspaceId: string) => Promise<void>,
  show: (start: FirstStart) => void,
): Promise<void> {
  const { db, keyStore, config } = runtime
  // On a slow machine the steps take longer than a transaction may be idle, and others longer than a statement may take
  // to wait for them.
  await setStatementTimeout(lock, patientMs)
  await lock`select set_config(name, ${patientMs}, true) from unnest(${patient}::text[]) as name`
  // Of several nodes that start at once on one database, one makes the demo.
  await lock`select pg_advisory_xact_lock(${lockNumbers.firstStart}::bigint)`
  const begun = await findUnfinishedDemo(lock)
  if (begun === undefined && (await hasWorkspace(lock))) return show({ state: 'known' })
  if (!config.demo) return show({ state: begun === undefined ? 'empty' : 'known' })

  const instanceKeys = await keyStore.keyring(instanceScope)
  const demo = begun ?? (await db.tx((tx) => addDemo(tx, runtime, instanceKeys)))
  await fillDemo(runtime, ownerOf(demo))
  const secrets = await db.tx((tx) => makeSecrets(tx, runtime, demo))
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

// A key that an earlier start made has been shown to nobody, but conversations may be its own by now.
async function makeSecrets(tx: Tx, { clock, config }: Runtime, { workspaceId, ownerId }: Demo) {
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
  makerId: ownerId,
  sessionId: null,
  name: ownerName,
  isOperator: true,
  actor: { type: 'user', id: ownerId },
  workspaceId,
  role: 'owner',
  workspace: { defaultCountry: demoCountry, leadsEnabled: true, inboxEnabled: true, inboxAvailable: true },
})
