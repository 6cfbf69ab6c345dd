import type { Caller } from '../../access/keys/caller.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Scope } from '../../inbox/conversation/conversation.ts'
import type { HandingAgent } from '../../inbox/ownership/hand-over.ts'
import type { Actor } from '../../workspace/actor.ts'
import type { AgentCaller, AgentDeps } from '../verb.ts'
import { cleanText } from './clean-text.ts'

/** How an agent sees the inbox. */
export interface Sight {
  keyId: string
  /** Whether phones are hidden. */
  masked: boolean
  now: Date
  keyring: Keyring
}

export async function sightOf({ inbox: { vault, clock } }: AgentDeps, caller: AgentCaller): Promise<Sight> {
  const keyring = await vault.keyring(caller.workspaceId)
  return { keyId: caller.keyId, masked: caller.phoneVisibility === 'masked', now: clock.now(), keyring }
}

export const scopeOf = ({ workspaceId, connectionIds }: Caller): Scope => ({ workspaceId, connectionIds })

/** What the interface for agents takes where the team has set nothing. */
const usualLimits = { unanswered: 3, daily: 1000 } as const

/** How much a key may send by this interface. */
export const limitsOf = ({ sendLimits: { unanswered, daily } }: Caller) => ({
  unanswered: unanswered ?? usualLimits.unanswered,
  daily: daily ?? usualLimits.daily,
})

/** The key as one who sends. */
export const senderOf = (caller: Caller): HandingAgent => ({
  ...scopeOf(caller),
  actor: actorOf(caller),
  limits: limitsOf(caller),
})

export const actorOf = ({ keyId }: Caller): Actor & { type: 'agent'; id: string } => ({ type: 'agent', id: keyId })

/** A stranger's name or a few words, where nothing is said about what was left out. */
export const cleaned = <T extends string | null>(text: T): T =>
  (text === null ? null : cleanText(text as string).text) as T
