/** One part of a form: a field, or a file when it has a name of one. */
export interface Part {
  name: string
  fileName: string | null
  type: string | null
  /** To be read before the next part is asked for; what is not read is passed over. */
  body: AsyncIterable<Buffer>
}

export class MalformedForm extends Error {}

const maxHeadBytes = 16 * 1024
const maxParts = 20
const lineEnd = '\r\n'

/** The boundary that the type of a form tells; null when it is none. */
export const boundaryOf = (contentType: string): string | null =>
  contentType.toLowerCase().startsWith('multipart/form-data') ? parametersOf(contentType).get('boundary') || null : null

/** The parts of a form as they come; nothing of them is held beyond a chunk. */
export async function* readParts(source: AsyncIterable<Uint8Array>, boundary: string): AsyncGenerator<Part> {
  const reader = createReader(source)
  const between = Buffer.from(`${lineEnd}--${boundary}`)
  await drain(reader.until(between, maxHeadBytes))
  for (let count = 0; count < maxParts; count += 1) {
    const mark = (await reader.take(2)).toString('latin1')
    if (mark === '--') return
    if (mark !== lineEnd) throw new MalformedForm('A boundary is not followed by a line end')
    const head = await gather(reader.until(Buffer.from(lineEnd + lineEnd), maxHeadBytes))
    const body = reader.until(between)
    yield { ...readHead(head.toString('utf8')), body }
    await drain(body)
  }
  throw new MalformedForm('There are too many parts')
}

function createReader(source: AsyncIterable<Uint8Array>) {
  const chunks = source[Symbol.asyncIterator]()
  // A form may begin with its boundary; with this it is one like the others.
  let held = Buffer.from(lineEnd)
  const more = async () => {
    const next = await chunks.next()
    if (next.done === true) throw new MalformedForm('The form ends early')
    held = Buffer.concat([held, next.value])
  }
  return {
    take: async (length: number): Promise<Buffer> => {
      while (held.length < length) await more()
      const taken = held.subarray(0, length)
      held = held.subarray(length)
      return taken
    },
    /** What comes before `mark`, which is taken too. */
    async *until(mark: Buffer, maxBytes = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer> {
      for (let count = 0; count <= maxBytes; ) {
        const at = held.indexOf(mark)
        // The end of what is held may be the beginning of the mark.
        const length = at === -1 ? Math.max(0, held.length - mark.length + 1) : at
        const taken = held.subarray(0, length)
        held = held.subarray(at === -1 ? length : at + mark.length)
        count += length
        if (length > 0) yield taken
        if (at !== -1) return
        await more()
      }
      throw new MalformedForm('A part has too much before it')
    },
  }
}

async function drain(body: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of body);
}

/** The whole of a small field. */
export async function gather(body: AsyncIterable<Buffer>, maxBytes = maxHeadBytes): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxBytes) throw new MalformedForm('A field is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function readHead(head: string): Omit<Part, 'body'> {
  const fields = new Map(
    head.split(lineEnd).map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const
    }),
  )
  const parameters = parametersOf(fields.get('content-disposition') ?? '')
  const fileName = parameters.get('filename') ?? null
  return { name: parameters.get('name') ?? '', fileName, type: fields.get('content-type') ?? null }
}

/** What stands behind the value of a header: `; name="file"; filename=a.png`. */
function parametersOf(header: string): Map<string, string> {
  const found = header.slice(0, maxHeadBytes).matchAll(/;\s*([a-z*]+)=(?:"([^"]*)"|([^;\s]*))/gi)
  return new Map([...found].map(([, name = '', quoted, bare = '']) => [name.toLowerCase(), quoted ?? bare]))
}
