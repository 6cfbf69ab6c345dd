import { badRequest, invalid } from '../../base/errors.ts'

const maxLength = 255
const printable = /^[\x20-\x7e]*$/
// RFC 8941: quoted text in which only the quote and the backslash are escaped.
const quoted = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/

/** The value of an `Idempotency-Key` header, given raw or as a quoted string: 1–255 printable ASCII characters. */
export function readIdempotencyKey(header: string | readonly string[] | undefined): string {
  const given = (typeof header === 'object' ? header.join(', ') : (header ?? '')).trim()
  if (given === '') {
    throw badRequest('Send an Idempotency-Key header with a value of its own for each message', {
      code: 'IDEMPOTENCY_KEY_REQUIRED',
    })
  }
  const key = given.startsWith('"') ? unquoted(given) : given
  if (key === undefined || key === '' || key.length > maxLength || !printable.test(key)) {
    throw invalid('Idempotency-Key', `must have 1 to ${maxLength} printable ASCII characters`, 'headers')
  }
  return key
}

function unquoted(text: string): string | undefined {
  return quoted.exec(text)?.[1]?.replaceAll(/\\(["\\])/g, '$1')
}
