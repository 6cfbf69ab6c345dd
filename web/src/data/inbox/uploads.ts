import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { uploadWithProgress } from '../../api/upload.ts'
import type { Conversation, MediaKind, Upload, UploadLimits } from './types.ts'

const one = '/api/team/v1/workspaces/{workspaceId}/inbox/conversations/{id}' as const
const limitsPath = `${one}/upload-limits` as const

export interface FileToUpload {
  file: Blob
  kind: MediaKind
  name: string
  type: string
  seconds: number | null
  waveform: readonly number[] | null
}

/** Uploads a file, which can then be sent. Rejects with an `ApiError`. */
export async function uploadFile(
  workspaceId: string,
  conversationId: string,
  { file, kind, name, type, seconds, waveform }: FileToUpload,
  options: { onProgress(fraction: number): void; signal: AbortSignal },
): Promise<Upload> {
  const query = new URLSearchParams({ kind, name, type })
  if (seconds !== null) query.set('seconds', String(seconds))
  if (waveform !== null && waveform.length > 0) query.set('waveform', waveform.join(','))
  const place = `/api/team/v1/workspaces/${workspaceId}/inbox/conversations/${conversationId}/uploads`
  return (await uploadWithProgress(`${place}?${query}`, file, options)) as Upload
}

/** Deletes an unused upload. Uploads that are not deleted expire. */
export async function deleteUpload(workspaceId: string, conversationId: string, uploadId: string): Promise<void> {
  await api.DELETE(`${one}/uploads/{uploadId}`, { workspaceId, id: conversationId, uploadId }).catch(() => {})
}

/** Returns the upload limits of a conversation; undefined until loaded. */
export function useUploadLimits(
  workspaceId: string,
  { id, connectionId }: Pick<Conversation, 'id' | 'connectionId'>,
): UploadLimits | undefined {
  const query = useQuery({
    // Keyed by the connection, which determines the channel: other conversations of it make no request.
    queryKey: [workspaceId, 'upload-limits', connectionId],
    queryFn: () => api.GET(limitsPath, { workspaceId, id }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return query.data
}
