/** A request that did not do what it was asked: the service's own words, or that it could not be reached. */
export class ApiError extends Error {
  readonly status: number
  /** What can be told apart by programs: `OWNER_MISMATCH`, `WINDOW_CLOSED`, …; null when there is none. */
  readonly code: string | null
  /** By the path of the field. */
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

  /** Nothing was answered: whether it was done is not known, unless it was only a question. */
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
    // Of several about one field the first says it best: what is empty has no form either.
    if (!found.has(one.path)) found.set(one.path, one.message)
  }
  return found
}
