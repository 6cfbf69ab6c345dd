import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, body } from '../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}'
const at = (workspaceId: string) => ({ params: { path: { workspaceId } } })
const auditPageSize = 50

export type Workspace = Awaited<ReturnType<typeof readWorkspace>>
export type Member = Awaited<ReturnType<typeof listMembers>>[number]
export type Invitation = Awaited<ReturnType<typeof listInvitations>>[number]
export type Label = Awaited<ReturnType<typeof listLabels>>[number]
export type CannedReply = Awaited<ReturnType<typeof listReplies>>[number]
export type SavedFilter = Awaited<ReturnType<typeof listFilters>>[number]
export type Token = Awaited<ReturnType<typeof listTokens>>[number]
export type AuditEntry = Awaited<ReturnType<typeof readAudit>>[number]
export type Made = NonNullable<ReturnType<typeof useMade>['data']>
export type People = Awaited<ReturnType<typeof readPeople>>

export const settingsKeys = {
  workspace: (workspaceId: string) => [workspaceId, 'workspace'] as const,
  members: (workspaceId: string) => [workspaceId, 'members'] as const,
  people: (workspaceId: string) => [workspaceId, 'people'] as const,
  made: (workspaceId: string, userId: string) => [workspaceId, 'made', userId] as const,
  invitations: (workspaceId: string) => [workspaceId, 'invitations'] as const,
  labels: (workspaceId: string) => [workspaceId, 'labels'] as const,
  replies: (workspaceId: string) => [workspaceId, 'canned-replies'] as const,
  filters: (workspaceId: string) => [workspaceId, 'saved filters'] as const,
  tokens: (workspaceId: string) => [workspaceId, 'tokens'] as const,
  audit: (workspaceId: string) => [workspaceId, 'audit'] as const,
  allWorkspaces: ['workspaces'] as const,
}

const readWorkspace = async (workspaceId: string) => (await body(api.GET(path, at(workspaceId)))).workspace
const listMembers = async (workspaceId: string) => (await body(api.GET(`${path}/members`, at(workspaceId)))).members
const readPeople = (workspaceId: string) => body(api.GET(`${path}/people`, at(workspaceId)))
const listInvitations = async (workspaceId: string) =>
  (await body(api.GET(`${path}/invitations`, at(workspaceId)))).invitations
const listLabels = async (workspaceId: string) => (await body(api.GET(`${path}/labels`, at(workspaceId)))).labels
const listReplies = async (workspaceId: string) =>
  (await body(api.GET(`${path}/canned-replies`, at(workspaceId)))).cannedReplies
const listFilters = async (workspaceId: string) =>
  (await body(api.GET(`${path}/saved-filters`, at(workspaceId)))).savedFilters
const listTokens = async (workspaceId: string) => (await body(api.GET(`${path}/tokens`, at(workspaceId)))).tokens
const listWorkspaces = async () => (await body(api.GET('/api/team/v1/workspaces'))).workspaces

async function readAudit(workspaceId: string, before: string | null) {
  const query = { limit: auditPageSize, ...(before !== null && { before }) }
  return (await body(api.GET(`${path}/audit`, { params: { path: { workspaceId }, query } }))).entries
}

export function useWorkspace(workspaceId: string) {
  return useQuery({ queryKey: settingsKeys.workspace(workspaceId), queryFn: () => readWorkspace(workspaceId) })
}

export function useMembers(workspaceId: string) {
  return useQuery({ queryKey: settingsKeys.members(workspaceId), queryFn: () => listMembers(workspaceId) })
}

/** The names behind the ids of members, API keys and team tokens. */
export function usePeople(workspaceId: string) {
  return useQuery({ queryKey: settingsKeys.people(workspaceId), queryFn: () => readPeople(workspaceId) })
}

/** What somebody made and still works. Asked anew each time: whoever reads it decides by it. */
export function useMade(workspaceId: string, userId: string) {
  const queryFn = () => body(api.GET(`${path}/members/{userId}/made`, { params: { path: { workspaceId, userId } } }))
  return useQuery({ queryKey: settingsKeys.made(workspaceId, userId), queryFn, staleTime: 0, gcTime: 0 })
}

export function useInvitations(workspaceId: string, enabled: boolean) {
  const queryFn = () => listInvitations(workspaceId)
  return useQuery({ queryKey: settingsKeys.invitations(workspaceId), queryFn, enabled })
}

export function useLabels(workspaceId: string) {
  return useQuery({ queryKey: settingsKeys.labels(workspaceId), queryFn: () => listLabels(workspaceId) })
}

export function useReplies(workspaceId: string) {
  return useQuery({ queryKey: settingsKeys.replies(workspaceId), queryFn: () => listReplies(workspaceId) })
}

export function useFilters(workspaceId: string) {
  return useQuery({ queryKey: settingsKeys.filters(workspaceId), queryFn: () => listFilters(workspaceId) })
}

export function useTokens(workspaceId: string) {
  return useQuery({ queryKey: settingsKeys.tokens(workspaceId), queryFn: () => listTokens(workspaceId) })
}

export function useAllWorkspaces() {
  return useQuery({ queryKey: settingsKeys.allWorkspaces, queryFn: listWorkspaces })
}

/** Newest first. Asked anew each time that the page is opened: nothing tells of its lines. */
export function useAudit(workspaceId: string) {
  return useInfiniteQuery({
    queryKey: settingsKeys.audit(workspaceId),
    queryFn: ({ pageParam }) => readAudit(workspaceId, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last.length < auditPageSize ? null : (last.at(-1)?.id ?? null)),
    staleTime: 0,
    gcTime: 0,
  })
}
