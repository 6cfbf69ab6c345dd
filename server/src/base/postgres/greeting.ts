import type { Socket } from 'node:net'

const maxMessageBytes = 30_000
const maxGreetingBytes = 65_536
/** What a server may say before the session is open, and the least and the greatest length of it. */
const lengths: Readonly<Record<string, readonly [least: number, greatest: number]>> = {
  R: [8, maxMessageBytes],
  S: [6, maxMessageBytes],
  K: [12, 12],
  Z: [5, 5],
  E: [5, maxMessageBytes],
  N: [5, maxMessageBytes],
}

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
export function greetingCheck(): (chunk: Buffer) => void {
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
      const [type, body] = [typeOf(rest), rest.subarray(5, size)]
      if (!isWellFormed(type, body)) throw new Error('answers as no PostgreSQL does')
      isOpen = type === 'Z'
      rest = rest.subarray(size)
    }
  }
}

const typeOf = (message: Buffer): string => message.toString('latin1', 0, 1)

/** The bytes of the message that begins here; null while its length has not come. */
function sizeOfFirst(bytes: Buffer): number | null {
  const type = typeOf(bytes)
  const bounds = lengths[type]
  if (bounds === undefined) throw new Error('answers as no PostgreSQL does')
  if (bytes.length < 5) return null
  const length = bytes.readUInt32BE(1)
  const [least, greatest] = bounds
  if (length >= least && length <= greatest) return length + 1
  throw new Error(type === 'E' ? oldStyleWords(bytes) : 'answers as no PostgreSQL does')
}

/** A server that cannot start a process for the connection says so in the words of twenty years ago. */
function oldStyleWords(bytes: Buffer): string {
  const words = /^[\x20-\x7e]{1,200}/.exec(bytes.toString('latin1', 1))?.[0]
  return words === undefined ? 'answers as no PostgreSQL does' : `says: ${words}`
}

function isWellFormed(type: string, body: Buffer): boolean {
  if (type === 'S')
    return body.at(-1) === 0 && body.indexOf(0) === body.lastIndexOf(0, -2) && body.indexOf(0) < body.length - 1
  if (type === 'E' || type === 'N') return hasFields(body)
  return true
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
