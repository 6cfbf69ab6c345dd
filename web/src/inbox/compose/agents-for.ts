import type { ApiKey } from '../../data/keys.ts'

export type AgentKey = Pick<ApiKey, 'id' | 'name' | 'status' | 'scopes' | 'connectionIds' | 'expiresAt'>

/** Returns keys that may answer customers of a connection now. */
export const agentsFor = <K extends AgentKey>(keys: readonly K[], connectionId: string, nowMs: number): K[] =>
  keys.filter(
    ({ status, scopes, connectionIds, expiresAt }) =>
      status === 'active' &&
      scopes.includes('inbox.write') &&
      (connectionIds.length === 0 || connectionIds.includes(connectionId)) &&
      (expiresAt === null || Date.parse(expiresAt) > nowMs),
  )
