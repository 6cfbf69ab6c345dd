import { createSocket } from 'node:dgram'
import { once } from 'node:events'

type Answer = { a?: string[]; aaaa?: Buffer[]; alias?: string }

/** A name server for these names only; `alias` puts a CNAME in front of the addresses. */
export async function nameServer(names: Record<string, Answer>) {
  const socket = createSocket('udp4')
  socket.on('message', (message, { port, address }) => {
    const end = message.indexOf(0, 12) + 1
    const name = labelsIn(message.subarray(12, end)).join('.').toLowerCase()
    const type = message.readUInt16BE(end) === 28 ? 'aaaa' : 'a'
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
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const server = {
    /** Address for the resolver's list of servers. */
    address: `127.0.0.1:${socket.address().port}`,
    /** All queries as `name type`, oldest first. */
    questions: [] as string[],
    close: () => socket.close(),
  }
  return server
}

function recordsOf({ a = [], aaaa = [], alias }: Answer, type: 'a' | 'aaaa'): Buffer[] {
  const addresses = type === 'a' ? a.map((text) => Buffer.from(text.split('.').map(Number))) : aaaa
  // The name of the query is at byte 12 of the message.
  const asked = Buffer.from([0xc0, 12])
  const owner = alias === undefined ? asked : written(alias)
  const front = alias === undefined ? [] : [record(asked, 5, written(alias))]
  return [...front, ...addresses.map((data) => record(owner, type === 'a' ? 1 : 28, data))]
}

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const middle = Buffer.alloc(10)
  middle.writeUInt16BE(type, 0)
  middle.writeUInt16BE(1, 2)
  middle.writeUInt16BE(data.length, 8)
  return Buffer.concat([owner, middle, data])
}

const labelsIn = (bytes: Buffer): string[] => {
  const length = bytes[0] ?? 0
  return length === 0 ? [] : [bytes.toString('latin1', 1, 1 + length), ...labelsIn(bytes.subarray(1 + length))]
}

const written = (name: string) =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ])
