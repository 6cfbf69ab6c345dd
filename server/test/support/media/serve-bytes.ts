// `serve-bytes.ts <megabytes>`: prints its port and serves this many bytes, as fast as clients read them. As a platform
// it also answers with the address of a file of N megabytes for an id `file-N-…`, and reports every number as valid. It
// runs in a separate process, so that its memory is not counted.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'

const megabyte = 1_000_000
const part = Buffer.alloc(65_536, 'parley')

const server = createServer(({ url = '/' }, response) => {
  const id = url.slice(url.lastIndexOf('/') + 1)
  const [, megabytes = process.argv[2]] = /^file-(\d+)/.exec(id) ?? []
  const bytes = Number(megabytes) * megabyte
  if (url === '/' || url.startsWith('/bytes/')) {
    response.setHeader('content-length', bytes)
    Readable.from(parts(bytes), { highWaterMark: 1 }).pipe(response)
  } else {
    const { port } = server.address() as AddressInfo
    const address = `http://127.0.0.1:${port}/bytes/${id}`
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(id.startsWith('file-') ? { id, url: address, file_size: bytes } : { id: 'number' }))
  }
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))

function* parts(bytes: number): Generator<Buffer> {
  for (let at = 0; at < bytes; at += part.length) yield part.subarray(0, Math.min(part.length, bytes - at))
}
