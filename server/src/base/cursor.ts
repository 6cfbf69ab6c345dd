const maxCharacters = 1000
const shape = /^[A-Za-z0-9_-]+$/
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Encodes a list of JSON values as an opaque base64url text; throws RangeError above 1,000 characters. */
export function encodeCursor(payload: readonly unknown[]): string {
  const cursor = Buffer.from(JSON.stringify(payload)).toString('base64url')
  if (cursor.length > maxCharacters) throw new RangeError(`cursor must have at most ${maxCharacters} characters`)
  return cursor
}

/** Returns the list in a cursor, or null unless `encodeCursor` could have produced the text. Items need validation. */
export function decodeCursor(text: string): unknown[] | null {
  if (text.length > maxCharacters || !shape.test(text)) return null
  const bytes = Buffer.from(text, 'base64url')
  // The last character has unused bits: only one of its encodings is canonical.
  if (bytes.toString('base64url') !== text) return null
  try {
    const payload: unknown = JSON.parse(utf8.decode(bytes))
    return Array.isArray(payload) ? payload : null
  } catch {
    return null
  }
}
