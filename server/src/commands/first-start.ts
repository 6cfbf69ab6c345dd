import { createApiKey } from '../access/create-key.ts'
import { scopes } from '../access/scopes.ts'
import { createSignInLink } from '../access/sign-in-link.ts'
import { createUser } from '../access/users.ts'
import type { House } from '../app-house.ts'
import type { Tx } from '../base/db.ts'
import type { Member } from '../base/member.ts'
import { instanceScope } from '../base/vault.ts'
import { addWorkspace } from '../workspace/create.ts'
import { fillDemo } from './demo/fill.ts'

/** What the installation was when the service came up. */
export type FirstStart =
  | { state: 'demo'; workspaceId: string; signInUrl: string; apiKey: string }
  | { state: 'empty' }
  | { state: 'known' }

// Any constant will do: of several nodes that start at once on one database, one makes the demo.
const firstStartLock = 7_275_392
const demoCountry = 'BR'

/** Gives an installation without workspaces its demo, unless the settings say otherwise. Secrets are in this answer only. */
export async function prepareFirstStart(house: House): Promise<FirstStart> {
  const { db, config } = house
  const made = await db.tx(async (tx) => {
    await tx`select pg_advisory_xact_lock(${firstStartLock}::bigint)`
    if (await hasWorkspace(tx)) return 'known'
    return config.demo ? addDemo(tx, house) : 'empty'
  })
  if (typeof made === 'string') return { state: made }
  await fillDemo(house, made.member)
  return { state: 'demo', workspaceId: made.member.workspaceId, signInUrl: made.signInUrl, apiKey: made.apiKey }
}

async function hasWorkspace(tx: Tx): Promise<boolean> {
  const [row] = await tx`
    select id
    from workspaces
    limit 1`
  return row !== undefined
}

async function addDemo(tx: Tx, { vault, clock, config }: House) {
  const now = clock.now()
  const person = { name: 'Demo Owner', email: 'owner@example.com', passwordHash: null, isOperator: true }
  const userId = await createUser(tx, await vault.keyring(instanceScope), person, now)
  const input = {
    name: 'Demo',
    defaultCountry: demoCountry,
    ownerId: userId,
    createdBy: { type: 'system', id: null },
  } as const
  const { id: workspaceId } = await addWorkspace(tx, vault, input, now)
  const key = await createApiKey(tx, { workspaceId, name: 'Demo key', scopes, createdBy: userId }, now)
  const { url: signInUrl } = await createSignInLink(tx, config.http.publicUrl, userId, now)
  const member: Member = {
    userId,
    tokenId: null,
    tokenWorkspaceId: null,
    sessionId: null,
    name: person.name,
    isOperator: true,
    actor: { type: 'user', id: userId },
    workspaceId,
    role: 'owner',
    workspace: { defaultCountry: demoCountry, leadsEnabled: true, inboxEnabled: true, inboxAvailable: true },
  }
  return { member, signInUrl, apiKey: key.value }
}
