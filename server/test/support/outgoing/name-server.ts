import { createSocket } from 'node:dgram'

type Answer = { a?: string[]; aaaa?: Buffer[]; alias?: string }

export interface NameServer {
  /** For the resolver's list of servers. */
  address: string
  /** Every question, `name type`, oldest first. */
  questions: string[]
  close(): void
}

const types: Record<number, 'a' | 'aaaa'> = { 1: 'a', 28: 'aaaa' }

/** A name server that knows these names alone; `alias` puts a CNAME in front of the addresses. */
export async function nameServer(names: Record<string, Answer>): Promise<NameServer> {
  const socket = createSocket('udp4')
  const server: NameServer = { address: '', questions: [], close: () => socket.close() }
  socket.on('message', (message, { port, address }) => {
    const { name, end } = readName(message, 12)
    const type = types[message.readUInt16BE(end)] ?? 'a'
    server.questions.push(`${name} ${type}`)
    const known = names[name]
    const answers = known === undefined ? [] : recordsOf(known, type)
    const head = Buffer.alloc(12)
    message.copy(head, 0, 0, 2)
    head.writeUInt16BE(known === undefined ? 0x8183 : 0x8180, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(answers.length, 6)
    socket.send(Buffer.concat([head, message.subarray(12, end + 4), ...answers]), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  server.address = `127.0.0.1:${socket.address().port}`
  return server
}

function recordsOf({ a = [], aaaa = [], alias }: Answer, type: 'a' | 'aaaa'): Buffer[] {
  const addresses = type === 'a' ? a.map((text) => Buffer.from(text.split('.').map(Number))) : aaaa
  // The question's own name stands at byte 12 of the message.
  const asked = Buffer.from([0xc0, 12])
  const owner = alias === undefined ? asked : writeName(alias)
  const front = alias === undefined ? [] : [record(asked, 5, writeName(alias))]
  return [...front, ...addresses.map((data) => record(owner, type === 'a' ? 1 : 28, data))]
}

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const middle = Buffer.alloc(10)
  middle.writeUInt16BE(type, 0)
  middle.writeUInt16BE(1, 2)
  middle.writeUInt16BE(data.length, 8)
  return Buffer.concat([owner, middle, data])
}

function readName(message: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = []
  let at = start
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

function writeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)]))
  return Buffer.concat([...labels, Buffer.from([0])])
}
