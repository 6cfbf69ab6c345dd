import { api, body } from '../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/erasures'

export type CustomerName = { leadId: string } | { conversationId: string }

/** What would be erased. */
export async function foresee(workspaceId: string, name: CustomerName) {
  const answer = await body(api.POST(path, { params: { path: { workspaceId } }, body: { ...name, dryRun: true } }))
  return 'found' in answer ? answer.found : undefined
}

export async function erase(workspaceId: string, name: CustomerName) {
  const answer = await body(api.POST(path, { params: { path: { workspaceId } }, body: name }))
  return 'erasure' in answer ? answer.erasure : undefined
}
