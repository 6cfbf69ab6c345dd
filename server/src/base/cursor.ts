const maxCharacters = 1000
const shape = /^[A-Za-z0-9_-]+$/
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** An opaque base64url text of 1,000 characters at most for a list of JSON values; throws RangeError beyond that. */
export function encodeCursor(payload: readonly unknown[]): string {
  const cursor = Buffer.from(JSON.stringify(payload)).toString('base64url')
  if (cursor.length > maxCharacters) throw new RangeError(`A cursor has ${maxCharacters} characters at most`)
  return cursor
}

/** The list within a cursor, or null when the text is none that `encodeCursor` could have made. Check its items. */
export function decodeCursor(text: string): unknown[] | null {
  if (text.length > maxCharacters || !shape.test(text)) return null
  const bytes = Buffer.from(text, 'base64url')
  // The last character has spare bits: only one of its spellings is ours.
  if (bytes.toString('base64url') !== text) return null
  try {
    const payload: unknown = JSON.parse(utf8.decode(bytes))
    return Array.isArray(payload) ? payload : null
  } catch {
    return null
  }
}
