import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'
import type { Conversation, UploadLimits } from './types.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/inbox/conversations/{id}/upload-limits' as const

/** Returns the upload limits of a conversation; undefined until loaded. */
export function useUploadLimits(
  workspaceId: string,
  { id, connectionId }: Pick<Conversation, 'id' | 'connectionId'>,
): UploadLimits | undefined {
  const query = useQuery({
    // Keyed by the connection, which determines the channel: other conversations of it make no request.
    queryKey: [workspaceId, 'upload-limits', connectionId],
    queryFn: () => unwrap(api.GET(path, { params: { path: { workspaceId, id } } })),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return query.data
}
