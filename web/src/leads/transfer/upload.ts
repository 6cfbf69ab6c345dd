import { ApiError } from '../../api/api-error.ts'
import { fetchRaw } from '../../api/client.ts'
import { type Import, readImport, uploadUrl } from '../../data/imports.ts'

const partBytes = 4 * 1024 * 1024
const retryMs = [500, 1000, 2000, 4000, 8000]

/**
 * Uploads the missing parts of a file. After a failed part, asks the server for the number of received bytes and
 * resumes there. Rejected parts are not retried.
 */
export async function uploadFile(
  workspaceId: string,
  one: Import,
  file: File,
  moved: (now: Import) => void,
  signal: AbortSignal,
): Promise<Import> {
  let current = one
  let failures = 0
  while (current.state === 'uploading') {
    signal.throwIfAborted()
    try {
      current = await sendPart(workspaceId, current, file, signal)
      failures = 0
      moved(current)
    } catch (error) {
      const pause = retryMs[failures++]
      if (signal.aborted || pause === undefined || !isRetryable(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, pause))
      current = await readImport(workspaceId, one.id).catch(() => current)
    }
  }
  return current
}

async function sendPart(workspaceId: string, { id, uploadedBytes }: Import, file: File, signal: AbortSignal) {
  const response = await fetchRaw(uploadUrl(workspaceId, id, uploadedBytes), {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body: file.slice(uploadedBytes, uploadedBytes + partBytes),
    signal,
  })
  return ((await response.json()) as { import: Import }).import
}

// A 409 with a number of bytes: the offset is wrong because an earlier response was lost.
const isRetryable = (error: unknown): boolean =>
  error instanceof ApiError && (error.isOffline || error.status >= 500 || typeof error.data.uploadedBytes === 'number')

/** Returns the format by the file name. */
export function formatOf(fileName: string): 'csv' | 'ndjson' {
  return /\.(?:ndjson|jsonl)$/i.test(fileName) ? 'ndjson' : 'csv'
}
