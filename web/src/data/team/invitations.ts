import { useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../../api/client.ts'
import type { Role } from '../../session/session.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/invitations'

export type Invitation = Schemas['Invitation']

export const invitationsKey = (workspaceId: string) => [workspaceId, 'invitations'] as const

export function useInvitations(workspaceId: string) {
  const queryFn = async () => (await api.GET(path, { workspaceId })).invitations
  return useQuery({ queryKey: invitationsKey(workspaceId), queryFn })
}

export const invite = (workspaceId: string, email: string, role: Role) =>
  api.POST(path, { workspaceId, body: { email, role } })

export const copyInvitationLink = async (workspaceId: string, invitationId: string): Promise<string> =>
  (await api.POST(`${path}/{invitationId}/link`, { workspaceId, invitationId })).url

export const mailInvitation = (workspaceId: string, invitationId: string) =>
  api.POST(`${path}/{invitationId}/mail`, { workspaceId, invitationId })

export const withdrawInvitation = (workspaceId: string, invitationId: string) =>
  api.DELETE(`${path}/{invitationId}`, { workspaceId, invitationId })
