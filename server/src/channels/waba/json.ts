/** What the platform sends is looked at with these alone: whatever is not of the expected type reads as absent. */
export type Loose = Record<string, unknown>

export function objectOf(value: unknown): Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : {}
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** Text as the database can hold it; null for anything else and for empty text. */
export function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null
  return value.toWellFormed().replaceAll('\0', '') || null
}

/** An id or a code, which comes as text or as a number. */
export function tokenOf(value: unknown): string | null {
  return Number.isSafeInteger(value) ? String(value) : (textOf(value)?.trim().slice(0, 512) ?? null) || null
}

/** The value that a body is JSON of; null when it is none. */
export function readJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
