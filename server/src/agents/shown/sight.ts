import type { Caller } from '../../access/keys/caller.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Scope } from '../../inbox/conversation/conversation.ts'
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

export const actorOf = ({ keyId }: Caller): Actor & { type: 'agent'; id: string } => ({ type: 'agent', id: keyId })

/** A stranger's name or a few words, where nothing is said about what was left out. */
export const cleaned = <T extends string | null>(text: T): T =>
  (text === null ? null : cleanText(text as string).text) as T
