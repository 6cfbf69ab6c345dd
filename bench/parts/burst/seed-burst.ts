import { createApiKey } from '../../../server/src/auth/api-keys/change-key.ts'
import { startSession } from '../../../server/src/auth/sign-in/sessions.ts'
import { addMember } from '../../../server/src/auth/users/members.ts'
import { createUser } from '../../../server/src/auth/users/users.ts'
import { systemClock } from '../../../server/src/base/clock.ts'
import type { Db } from '../../../server/src/base/db.ts'
import { instanceScope, openKeyStore } from '../../../server/src/base/encryption/key-store.ts'
import { fillMessages } from '../../fill.ts'
import { fillingOf, type SeededConnection, seedConnection } from '../../inbox-seed.ts'
import { benchMasterKey, makeWorkspace } from '../../workspace.ts'
import type { Agent } from './agents.ts'

export interface BurstWorkspace {
  workspaceId: string
  /** Number that receives the burst. */
  burstNumber: SeededConnection
  /** Agents that send to other customers of the same number, and those of another number. */
  agents: { ofStormed: Agent[]; ofOther: Agent[] }
  /** Session cookies of users. */
  cookies: string[]
  /** Conversation of people on the number of the burst, with the index of its customer. */
  watched: { conversationId: string; customer: number }
}

const people = 8
const agentsOfEach = 4
const agentConversations = 30
/** Index of the first customer in the burst; agents answer the earlier ones. */
export const firstCustomer = 200
/** Number of burst customers with existing conversations; the others start new ones. */
const existingCustomers = 1_000
const historyEach = 30

/** Creates a workspace with two numbers, eight agents and eight users. */
export async function seedBurst(db: Db, platformPort: number): Promise<BurstWorkspace> {
  const workspace = await makeWorkspace(db)
  const filling = await fillingOf(db, workspace)
  const burstNumber = await seedConnection(filling, workspace, platformPort, existingCustomers)
  const other = await seedConnection(filling, workspace, platformPort, firstCustomer)
  const customer = firstCustomer + 1
  const conversationId = burstNumber.conversations[customer] ?? ''
  const opened = [...burstNumber.conversations.slice(0, 40), conversationId]
  await fillMessages(filling, burstNumber.id, opened, historyEach)
  const agents = {
    ofStormed: await addAgents(db, workspace, burstNumber),
    ofOther: await addAgents(db, workspace, other),
  }
  const cookies = await signPeopleIn(db, workspace)
  await db.sql`vacuum analyze`
  return { ...workspace, burstNumber, agents, cookies, watched: { conversationId, customer } }
}

async function addAgents(db: Db, { workspaceId }: { workspaceId: string }, { conversations }: SeededConnection) {
  const agents: Agent[] = []
  for (let n = 0; n < agentsOfEach; n++) {
    const scopes = ['inbox.read', 'inbox.write'] as const
    const input = { workspaceId, createdBy: null, name: `Agent ${n}`, scopes: [...scopes] }
    const { key, value } = await db.tx((tx) => createApiKey(tx, input, systemClock.now()))
    const own = conversations.slice(n * agentConversations, (n + 1) * agentConversations)
    await db.sql`
      update conversations
      set owner_key_id = ${key.id}, status = 'open'
      where workspace_id = ${workspaceId}
        and id = any (${own}::uuid[])`
    agents.push({ key: value, conversations: own })
  }
  return agents
}

async function signPeopleIn(db: Db, { workspaceId }: { workspaceId: string }): Promise<string[]> {
  const keys = await openKeyStore(db, { current: benchMasterKey }, systemClock).keyring(instanceScope)
  const cookies: string[] = []
  const now = systemClock.now()
  for (let n = 0; n < people; n++) {
    const person = { name: `Person ${n}`, email: `${crypto.randomUUID()}@example.com`, passwordHash: 'none' }
    const { token } = await db.tx(async (tx) => {
      const userId = await createUser(tx, keys, { ...person, isOperator: false }, now)
      await addMember(tx, workspaceId, userId, 'member', now)
      return startSession(tx, { userId, signedInBy: 'password', device: 'Bench', previousToken: null }, now)
    })
    cookies.push(`parley_session=${token}`)
  }
  return cookies
}
