import { networkError } from './api-error.ts'
import { csrfToken, toApiError } from './client.ts'

interface UploadOptions {
  /** Fraction sent, from 0 to 1. */
  onProgress(fraction: number): void
  signal: AbortSignal
}

/** Sends a file as the request body and reports progress, which `fetch` cannot. Rejects with an `ApiError`. */
export function uploadWithProgress(path: string, file: Blob, { onProgress, signal }: UploadOptions): Promise<unknown> {
  const request = new XMLHttpRequest()
  const stop = () => request.abort()
  const answer = new Promise<unknown>((resolve, reject) => {
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total)
    request.onerror = () => reject(networkError())
    request.onabort = () => reject(signal.reason)
    request.onload = () => readUploadResponse(request).then(resolve, reject)
    request.open('POST', path)
    request.setRequestHeader('content-type', 'application/octet-stream')
    request.setRequestHeader('x-parley-csrf', csrfToken)
    request.send(file)
  })
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  return answer.finally(() => signal.removeEventListener('abort', stop))
}

async function readUploadResponse({ status, responseText, statusText }: XMLHttpRequest): Promise<unknown> {
  const response = new Response(status === 204 ? null : responseText, { status, statusText })
  if (response.ok) return response.json()
  throw await toApiError(response)
}
