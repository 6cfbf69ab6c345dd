/** Untrusted JSON, read only with these functions: a value of an unexpected type counts as absent. */
export type JsonObject = Record<string, unknown>

export function objectOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns text that the database can store; null for other types and empty text. */
export function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null
  return value.toWellFormed().replaceAll('\0', '') || null
}

/** Returns an id or code given as text or number; null otherwise. */
export function tokenOf(value: unknown): string | null {
  return Number.isSafeInteger(value) ? String(value) : (textOf(value)?.trim().slice(0, 512) ?? null) || null
}

/** Parses JSON; null if invalid. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
