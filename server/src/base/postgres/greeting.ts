import type { Socket } from 'node:net'

/** What a server may say before the session is open. */
const kinds = 'RSKZEN'
const [leastBytes, maxMessageBytes, maxGreetingBytes] = [5, 30_000, 65_536]

/**
 * Has the driver hear a greeting that is one and nothing else: it waits for ever, grows, or throws out of the socket's
 * event otherwise, and one kind of error message that is cut short keeps it reading until the process is killed. Once the
 * session is open only throwing is caught: it ends this connection instead of the process.
 */
export function guardGreeting(socket: Socket): void {
  const check = greetingCheck()
  const on = socket.on.bind(socket)
  const guarded = (listener: (chunk: Buffer) => void) => (chunk: Buffer) => {
    if (socket.destroyed) return
    try {
      check(chunk)
      listener(chunk)
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  }
  socket.on = ((event: string, listener: (chunk: Buffer) => void) =>
    on(event, event === 'data' ? guarded(listener) : listener)) as Socket['on']
}

/** Takes what comes, in whatever pieces, and throws where it is no greeting; all is well from the end of one on. */
function greetingCheck(): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let bytes = 0
  let isOpen = false
  return (chunk) => {
    if (isOpen) return
    bytes += chunk.length
    if (bytes > maxGreetingBytes) throw new Error('answers at a length that no PostgreSQL does')
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (!isOpen && rest.length > 0) {
      const size = sizeOfFirst(rest)
      if (size === null || rest.length < size) return
      const type = typeOf(rest)
      if (!isWellFormed(type, rest.subarray(5, size))) throw new Error('answers as no PostgreSQL does')
      isOpen = type === 'Z'
      rest = rest.subarray(size)
    }
  }
}

const typeOf = (message: Buffer): string => message.toString('latin1', 0, 1)

/** The bytes of the message that begins here; null while its length has not come. */
function sizeOfFirst(bytes: Buffer): number | null {
  const type = typeOf(bytes)
  if (!kinds.includes(type)) throw new Error('answers as no PostgreSQL does')
  if (bytes.length < 5) return null
  const length = bytes.readUInt32BE(1)
  if (length >= leastBytes && length <= maxMessageBytes) return length + 1
  throw new Error(type === 'E' ? oldStyleWords(bytes) : 'answers as no PostgreSQL does')
}

/** A server that cannot start a process for the connection says so in the words of twenty years ago. */
function oldStyleWords(bytes: Buffer): string {
  const words = /^[\x20-\x7e]{1,200}/.exec(bytes.toString('latin1', 1))?.[0]
  return words === undefined ? 'answers as no PostgreSQL does' : `says: ${words}`
}

function isWellFormed(type: string, body: Buffer): boolean {
  // A name and its value.
  if (type === 'S') return /^[^\0]+\0[^\0]*\0$/.test(body.toString('latin1'))
  return type === 'E' || type === 'N' ? hasFields(body) : true
}

/** Each field is a letter and a text that ends with a zero; a last zero ends them all. */
function hasFields(body: Buffer): boolean {
  let at = 0
  while (at < body.length && body[at] !== 0) {
    const end = body.indexOf(0, at + 1)
    if (end < 0) return false
    at = end + 1
  }
  return at === body.length - 1
}
