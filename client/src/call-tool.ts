import type { Call, Caller, CallOptions } from './call.ts'

/** HTTP route of an operation; path parameters are fields of the input. */
export type ToolRoute = Pick<Call, 'path' | 'isRepeatable' | 'timeoutMs'> & { method: 'GET' | 'POST' | 'PATCH' }

export type CallTool = <Answer>(route: ToolRoute, input: object, options?: CallOptions) => Promise<Answer>

/** Calls operations: fields that are not in the path become the query of a GET, else the body. */
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
