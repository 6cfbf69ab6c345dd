export interface Element {
  id: number
  data: Buffer
}

// Those that have others within: the segment, its clusters, and its tracks.
const containers: readonly number[] = [0x18538067, 0x1f43b675, 0x1654ae6b, 0xae]
const maxElements = 100_000

/** The elements of a WebM file in their order, those within others included; it ends where the file makes no sense. */
export function readEbml(file: Buffer): Element[] {
  const elements: Element[] = []
  let at = 0
  while (at < file.length && elements.length < maxElements) {
    const id = readNumber(file, at, { keepsMark: true })
    const size = id === null ? null : readNumber(file, at + id.length, { keepsMark: false })
    if (id === null || size === null) break
    const start = at + id.length + size.length
    if (containers.includes(id.value)) {
      at = start
      continue
    }
    elements.push({ id: id.value, data: file.subarray(start, start + size.value) })
    at = start + size.value
  }
  return elements
}

// As many leading zero bits as there are further bytes. The mark that ends them belongs to ids, and not to sizes.
function readNumber(file: Buffer, at: number, { keepsMark }: { keepsMark: boolean }) {
  const first = file[at]
  if (first === undefined || first === 0) return null
  const length = Math.clz32(first) - 23
  if (at + length > file.length) return null
  let value = keepsMark ? first : first & (0xff >> length)
  for (const byte of file.subarray(at + 1, at + length)) value = value * 256 + byte
  return { value, length }
}
