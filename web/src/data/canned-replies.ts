import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/canned-replies'
const onePath = `${path}/{replyId}` as const
const at = (workspaceId: string) => ({ params: { path: { workspaceId } } })

export type CannedReply = Awaited<ReturnType<typeof listReplies>>[number]

export interface ReplyText {
  shortcut: string
  text: string
}

export const cannedRepliesKey = (workspaceId: string) => [workspaceId, 'canned-replies'] as const

const listReplies = async (workspaceId: string) => (await unwrap(api.GET(path, at(workspaceId)))).cannedReplies

export function useCannedReplies(workspaceId: string) {
  return useQuery({ queryKey: cannedRepliesKey(workspaceId), queryFn: () => listReplies(workspaceId) })
}

export const createReply = (workspaceId: string, reply: ReplyText) =>
  unwrap(api.POST(path, { ...at(workspaceId), body: reply }))

export const changeReply = (workspaceId: string, replyId: string, reply: ReplyText) =>
  unwrap(api.PATCH(onePath, { params: { path: { workspaceId, replyId } }, body: reply }))

export const deleteReply = (workspaceId: string, replyId: string) =>
  unwrap(api.DELETE(onePath, { params: { path: { workspaceId, replyId } } }))
