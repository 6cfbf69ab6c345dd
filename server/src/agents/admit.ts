import type { Face } from '../access/keys/admission.ts'
import type { Caller } from '../access/keys/caller.ts'
import type { Guard } from '../access/keys/guard.ts'
import type { AgentCaller, Verb } from './verb.ts'

/** Lets a caller use a verb, or throws 401, 403, 429 or 503 as every face does. */
export async function admitTo(guard: Pick<Guard, 'admit'>, verb: Verb, caller: Caller): Promise<AgentCaller> {
  const left = await guard.admit(caller, faceFor(verb, caller), verb.scopes)
  // What a node keeps of a key is shared by all its requests.
  return { ...caller, left }
}

/** Whether the key has a scope of the verb: the others are not shown to it. */
export const isFor = (caller: Caller, verb: Verb): boolean => verb.scopes.some((scope) => caller.may(scope))

// A verb for any key asks for the plan of a face that the key is for.
function faceFor({ scopes: anyOf }: Verb, { may, workspace }: Caller): Face {
  const ofInbox = anyOf.filter((scope) => scope.startsWith('inbox.'))
  if (ofInbox.length === anyOf.length) return 'inbox'
  return ofInbox.some(may) && workspace.inboxEnabled ? 'inbox' : 'leads'
}
