import { ApiError } from '../base/errors.ts'
import type { AgentCaller, AgentDeps, Verb } from './verb.ts'

/** Does what a verb does, for a caller that was admitted, unless its key repeats itself: then throws 429 `PAUSED`. */
export async function runVerb(
  deps: AgentDeps,
  verb: Verb,
  caller: AgentCaller,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<object> {
  // Whoever is lost may always ask where it is.
  if (verb.name !== 'who_am_i') deps.breaker.check(caller)
  try {
    return await verb.run(deps, caller, input, signal)
  } catch (error) {
    if (error instanceof ApiError) deps.breaker.noteRefusal(caller, verb.name, aboutOf(verb, input), error)
    throw error
  }
}

/** What a call is about, whatever words it has: what its path names, or all of its input. */
function aboutOf({ http }: Verb, input: Record<string, unknown>): unknown {
  const named = [...http.path.matchAll(/:(\w+)/g)].map(([, name = '']) => input[name])
  return named.length === 0 ? input : named
}
