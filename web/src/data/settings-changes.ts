import { api, body } from '../api/client.ts'
import type { paths } from '../api/schema.ts'
import type { Role } from '../session/session.ts'
import type { Label, SavedFilter } from './settings.ts'

const all = '/api/team/v1/workspaces'
const path = `${all}/{workspaceId}` as const
const at = (workspaceId: string) => ({ path: { workspaceId } })

export type WorkspacePatch = paths[typeof path]['patch']['requestBody']['content']['application/json']

export const changeWorkspace = async (workspaceId: string, patch: WorkspacePatch) =>
  (await body(api.PATCH(path, { params: at(workspaceId), body: patch }))).workspace

export const createWorkspace = async (workspace: { name: string; defaultCountry: string | null }) =>
  (await body(api.POST(all, { body: workspace }))).workspace

export const changeRole = (workspaceId: string, userId: string, role: Role) =>
  body(api.PATCH(`${path}/members/{userId}`, { params: { path: { workspaceId, userId } }, body: { role } }))

export interface Leaving {
  keys: 'keep' | 'revoke'
  webhooks: 'keep' | 'disable'
}

export const removeMember = (workspaceId: string, userId: string, leaving: Leaving) =>
  body(api.DELETE(`${path}/members/{userId}`, { params: { path: { workspaceId, userId }, query: leaving } }))

export const signOutMember = (workspaceId: string, userId: string) =>
  body(api.DELETE(`${path}/members/{userId}/sessions`, { params: { path: { workspaceId, userId } } }))

export const invite = (workspaceId: string, email: string, role: Role) =>
  body(api.POST(`${path}/invitations`, { params: at(workspaceId), body: { email, role } }))

export const withdrawInvitation = (workspaceId: string, invitationId: string) =>
  body(api.DELETE(`${path}/invitations/{invitationId}`, { params: { path: { workspaceId, invitationId } } }))

export const createLabel = (workspaceId: string, label: Pick<Label, 'name' | 'color'>) =>
  body(api.POST(`${path}/labels`, { params: at(workspaceId), body: label }))

export const changeLabel = (workspaceId: string, labelId: string, label: Pick<Label, 'name' | 'color'>) =>
  body(api.PATCH(`${path}/labels/{labelId}`, { params: { path: { workspaceId, labelId } }, body: label }))

export const deleteLabel = (workspaceId: string, labelId: string) =>
  body(api.DELETE(`${path}/labels/{labelId}`, { params: { path: { workspaceId, labelId } } }))

export interface ReplyText {
  shortcut: string
  text: string
}

export const createReply = (workspaceId: string, reply: ReplyText) =>
  body(api.POST(`${path}/canned-replies`, { params: at(workspaceId), body: reply }))

export const changeReply = (workspaceId: string, replyId: string, reply: ReplyText) =>
  body(api.PATCH(`${path}/canned-replies/{replyId}`, { params: { path: { workspaceId, replyId } }, body: reply }))

export const deleteReply = (workspaceId: string, replyId: string) =>
  body(api.DELETE(`${path}/canned-replies/{replyId}`, { params: { path: { workspaceId, replyId } } }))

export const createFilter = (workspaceId: string, { page, name, query, shared }: SavedFilter) =>
  body(api.POST(`${path}/saved-filters`, { params: at(workspaceId), body: { page, name, query, shared } }))

export const renameFilter = (workspaceId: string, filterId: string, name: string) =>
  body(api.PATCH(`${path}/saved-filters/{filterId}`, { params: { path: { workspaceId, filterId } }, body: { name } }))

export const deleteFilter = (workspaceId: string, filterId: string) =>
  body(api.DELETE(`${path}/saved-filters/{filterId}`, { params: { path: { workspaceId, filterId } } }))

export const createToken = (workspaceId: string, token: { name: string; role: Role; expiresAt: string | null }) =>
  body(api.POST(`${path}/tokens`, { params: at(workspaceId), body: token }))

export const revokeToken = (workspaceId: string, tokenId: string) =>
  body(api.DELETE(`${path}/tokens/{tokenId}`, { params: { path: { workspaceId, tokenId } } }))
