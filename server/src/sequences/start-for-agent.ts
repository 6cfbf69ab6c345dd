import { conflict, notFound } from '../base/errors.ts'
import type { InboxDeps, Scope } from '../inbox/conversation/conversation.ts'
import { loadConversation } from '../inbox/conversation/queries.ts'
import { listSequences, type Sequence } from './sequence.ts'
import { startRuns } from './start-runs.ts'

export interface AgentStart {
  /** Name or id. */
  sequence: string
  conversationId: string | null
  leadId: string | null
}

type Deps = Pick<InboxDeps, 'db' | 'keyStore' | 'clock' | 'findLead'>

/**
 * Starts a sequence that the team has opened to agents, on a connection of the key. Throws 404 for others, with the names
 * of those there are; 404 for a conversation that the key cannot see; 409 for a lead that cannot be added.
 */
export async function startForAgent(
  deps: Deps,
  by: Scope & { actor: { type: 'agent'; id: string } },
  { sequence: wanted, conversationId, leadId }: AgentStart,
): Promise<{ sequence: Sequence; isNew: boolean }> {
  const { db, clock } = deps
  const { workspaceId, actor } = by
  const sequence = await findOpenSequence(deps, by, wanted)
  const lead = leadId ?? (await leadOf(deps, by, conversationId ?? ''))
  const start = { sequenceId: sequence.id, leadIds: [lead], entry: 'agent', actor } as const
  const done = await db.tx((tx) => startRuns(tx, workspaceId, start, clock.now()))
  if (done.refused.length > 0) {
    throw conflict('This lead cannot be added: it is gone, has no phone, or a status that ends the sequence.')
  }
  return { sequence, isNew: done.started.length > 0 }
}

async function findOpenSequence(
  { db }: Deps,
  { workspaceId, connectionIds }: Scope,
  wanted: string,
): Promise<Sequence> {
  const isVisible = ({ connectionId }: Sequence) => connectionIds.length === 0 || connectionIds.includes(connectionId)
  const all = await listSequences(db.sql, workspaceId)
  const open = all.filter((one) => one.enabled && one.forAgents && isVisible(one))
  const name = wanted.trim().toLowerCase()
  const found = open.find((one) => one.id === name || one.name.toLowerCase() === name)
  if (found !== undefined) return found
  const names = open.slice(0, 20).map((one) => one.name)
  const others = names.length === 0 ? 'The team has opened none to agents.' : `There are: ${names.join('; ')}.`
  throw notFound(`No sequence of this name is open to agents. ${others}`, { code: 'NOT_FOUND' })
}

async function leadOf({ db, keyStore, findLead }: Deps, scope: Scope, conversationId: string): Promise<string> {
  const { contact } = await loadConversation({ db, keyStore }, scope, conversationId)
  const lead = contact.phone === null ? null : await findLead(scope.workspaceId, contact.phone)
  if (lead === null) throw conflict('The customer has no lead. Create one first.')
  return lead.id
}
