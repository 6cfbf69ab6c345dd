import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'
import type { Role } from '../../session/session.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/invitations'
const at = (workspaceId: string) => ({ params: { path: { workspaceId } } })

export type Invitation = Awaited<ReturnType<typeof listInvitations>>[number]

export const invitationsKey = (workspaceId: string) => [workspaceId, 'invitations'] as const

const listInvitations = async (workspaceId: string) => (await unwrap(api.GET(path, at(workspaceId)))).invitations

export function useInvitations(workspaceId: string) {
  return useQuery({ queryKey: invitationsKey(workspaceId), queryFn: () => listInvitations(workspaceId) })
}

export const invite = (workspaceId: string, email: string, role: Role) =>
  unwrap(api.POST(path, { ...at(workspaceId), body: { email, role } }))

export const copyInvitationLink = async (workspaceId: string, invitationId: string): Promise<string> =>
  (await unwrap(api.POST(`${path}/{invitationId}/link`, { params: { path: { workspaceId, invitationId } } }))).url

export const mailInvitation = (workspaceId: string, invitationId: string) =>
  unwrap(api.POST(`${path}/{invitationId}/mail`, { params: { path: { workspaceId, invitationId } } }))

export const withdrawInvitation = (workspaceId: string, invitationId: string) =>
  unwrap(api.DELETE(`${path}/{invitationId}`, { params: { path: { workspaceId, invitationId } } }))
