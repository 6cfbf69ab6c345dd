import { csrfToken, failed } from './client.ts'
import { unreachable } from './failure.ts'

interface FileOptions {
  /** How much has gone, from 0 to 1. */
  sent(share: number): void
  signal: AbortSignal
}

/** Sends a file as the body and says how far it is, which `fetch` does not. Rejects with a `Failure`. */
export function sendFile(path: string, file: Blob, { sent, signal }: FileOptions): Promise<unknown> {
  const request = new XMLHttpRequest()
  const stop = () => request.abort()
  const answer = new Promise<unknown>((resolve, reject) => {
    request.upload.onprogress = ({ loaded, total }) => sent(total === 0 ? 0 : loaded / total)
    request.onerror = () => reject(unreachable())
    request.onabort = () => reject(signal.reason)
    request.onload = () => settle(request).then(resolve, reject)
    request.open('POST', path)
    request.setRequestHeader('content-type', 'application/octet-stream')
    request.setRequestHeader('x-parley-csrf', csrfToken)
    request.send(file)
  })
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  return answer.finally(() => signal.removeEventListener('abort', stop))
}

async function settle({ status, responseText, statusText }: XMLHttpRequest): Promise<unknown> {
  const response = new Response(status === 204 ? null : responseText, { status, statusText })
  if (response.ok) return response.json()
  throw await failed(response)
}
