export interface Take {
  allowed: boolean
  limit: number
  /** What is left of the limit at the moment, after this request. */
  remaining: number
  /** Whole seconds until more becomes available; 0 when nothing is used. */
  resetSeconds: number
  /** Whole seconds, at least 1, after which a refused request can succeed; 0 when this one was allowed. */
  retryAfterSeconds: number
}

/**
 * Counts requests per key over a sliding minute: no 60 s ever hold more than the limit. Keys are any text, with a
 * prefix for each thing that is limited (`leads:<key id>`).
 */
export interface Limiter {
  /** Takes one unit. A limit must be above 0: "no limit" is the caller's not asking. */
  take(key: string, limitPerMinute: number): Promise<Take>
  close(): Promise<void>
}

export function taken(limit: number, used: number, waitMs: number): Take {
  return {
    allowed: true,
    limit,
    remaining: Math.max(0, limit - used),
    resetSeconds: Math.ceil(waitMs / 1000),
    retryAfterSeconds: 0,
  }
}

export function refused(limit: number, waitMs: number): Take {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return { allowed: false, limit, remaining: 0, resetSeconds: seconds, retryAfterSeconds: seconds }
}
