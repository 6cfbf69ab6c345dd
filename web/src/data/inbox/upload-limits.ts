import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'
import type { Conversation, UploadLimits } from './types.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/inbox/conversations/{id}/upload-limits' as const

/** What can be sent in a conversation; undefined until it is known. */
export function useUploadLimits(
  workspaceId: string,
  { id, connectionId }: Pick<Conversation, 'id' | 'connectionId'>,
): UploadLimits | undefined {
  const query = useQuery({
    // By the connection, whose channel they are of: the next conversation with it asks for nothing.
    queryKey: [workspaceId, 'upload-limits', connectionId],
    queryFn: () => unwrap(api.GET(path, { params: { path: { workspaceId, id } } })),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return query.data
}
