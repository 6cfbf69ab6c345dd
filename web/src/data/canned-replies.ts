import { useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/canned-replies'
const onePath = `${path}/{replyId}` as const

export type CannedReply = Schemas['CannedReply']

export type ReplyText = Pick<CannedReply, 'shortcut' | 'text'>

export const cannedRepliesKey = (workspaceId: string) => [workspaceId, 'canned-replies'] as const

export function useCannedReplies(workspaceId: string) {
  const queryFn = async () => (await api.GET(path, { workspaceId })).cannedReplies
  return useQuery({ queryKey: cannedRepliesKey(workspaceId), queryFn })
}

export const createReply = (workspaceId: string, reply: ReplyText) => api.POST(path, { workspaceId, body: reply })

export const changeReply = (workspaceId: string, replyId: string, reply: ReplyText) =>
  api.PATCH(onePath, { workspaceId, replyId, body: reply })

export const deleteReply = (workspaceId: string, replyId: string) => api.DELETE(onePath, { workspaceId, replyId })
