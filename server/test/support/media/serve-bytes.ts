// `serve-bytes.ts <megabytes>`: serves so many bytes to whoever asks, no faster than they are taken, and prints its port. In a
// process of its own, so that what it takes is not counted.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'

const bytes = Number(process.argv[2]) * 1_000_000
const part = Buffer.alloc(65_536, 'parley')

const server = createServer((_, response) => {
  response.setHeader('content-length', bytes)
  Readable.from(parts(), { highWaterMark: 1 }).pipe(response)
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))

function* parts(): Generator<Buffer> {
  for (let at = 0; at < bytes; at += part.length) yield part.subarray(0, Math.min(part.length, bytes - at))
}
