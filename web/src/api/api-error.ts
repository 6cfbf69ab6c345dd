/** A failed request, with the error text of the server, or an offline error if there was no response. */
export class ApiError extends Error {
  readonly status: number
  /** Error code for programs, such as `OWNER_MISMATCH` or `WINDOW_CLOSED`; null if there is none. */
  readonly code: string | null
  /** Keyed by the path of the field. */
  readonly issues: ReadonlyMap<string, string>
  readonly data: Record<string, unknown>
  readonly requestId: string | null

  constructor(status: number, message: string, data: Record<string, unknown> = {}, requestId: string | null = null) {
    super(message)
    this.name = 'Failure'
    this.status = status
    this.data = data
    this.code = typeof data.code === 'string' ? data.code : null
    this.issues = issuesOf(data.issues)
    this.requestId = requestId
  }

  /** Whether there was no response. A change may still have been applied. */
  get isOffline(): boolean {
    return this.status === 0
  }
}

export const networkError = (): ApiError => new ApiError(0, '')

export async function parseApiError(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null)
  const { statusMessage, data } = (body ?? {}) as { statusMessage?: unknown; data?: unknown }
  const message = typeof statusMessage === 'string' ? statusMessage : response.statusText
  const fields = typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {}
  return new ApiError(response.status, message, fields, response.headers.get('x-request-id'))
}

function issuesOf(issues: unknown): Map<string, string> {
  const found = new Map<string, string>()
  if (!Array.isArray(issues)) return found
  for (const one of issues as { path?: unknown; message?: unknown }[]) {
    if (typeof one?.path !== 'string' || typeof one.message !== 'string') continue
    // Keeps the first issue of each field, which is the most specific: an empty value also fails the format check.
    if (!found.has(one.path)) found.set(one.path, one.message)
  }
  return found
}
