import type { Call, Caller, CallOptions } from './call.ts'

/** A verb as HTTP has it: the names in its path are fields of its input. */
export type ToolRoute = Pick<Call, 'path' | 'isRepeatable' | 'timeoutMs'> & { method: 'GET' | 'POST' | 'PATCH' }

export type CallTool = <Answer>(route: ToolRoute, input: object, options?: CallOptions) => Promise<Answer>

/** What asks for verbs: what is not in the path is the query of a GET, and the body of all else. */
export function callTool(call: Caller): CallTool {
  return ({ path, ...route }, input, options) => {
    const rest: Record<string, unknown> = { ...input }
    const filled = path.replace(/:(\w+)/g, (_all, name: string) => {
      const value = String(rest[name])
      delete rest[name]
      return encodeURIComponent(value)
    })
    const sent = route.method === 'GET' ? { query: rest } : { body: rest }
    return call({ ...route, path: `api/v2${filled}`, ...sent }, options)
  }
}
