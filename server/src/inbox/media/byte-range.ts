import type { ByteRange } from '../../media/sealed-file.ts'

const maxHeaderLength = 200

/**
 * What a `Range` header asks of so many bytes. Null: all of it, as for every header that is not one range of bytes, which
 * the field's standard has a server pass over.
 */
export function readRange(header: string | undefined, size: number): ByteRange | 'beyond' | null {
  if (header === undefined || header.length > maxHeaderLength) return null
  const [, first, last] = /^bytes=[ \t]*([0-9]*)-([0-9]*)[ \t]*$/i.exec(header) ?? []
  if (first === undefined || last === undefined) return null
  if (first === '') return last === '' ? null : lastBytes(Number(last), size)
  const start = Number(first)
  if (last !== '' && Number(last) < start) return null
  if (start >= size) return 'beyond'
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) }
}

function lastBytes(count: number, size: number): ByteRange | 'beyond' {
  if (count === 0 || size === 0) return 'beyond'
  return { start: Math.max(0, size - count), end: size }
}
