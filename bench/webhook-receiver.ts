// Takes webhooks and counts them. Run by webhooks.ts in a process of its own.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let count = 0
/** Milliseconds from the moment that the body names to its arrival. */
let delays: number[] = []
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify({ count, delays }))
    count = 0
    delays = []
    return
  }
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    count++
    const sentAt = Number(/"sentAt":(\d+)/.exec(Buffer.concat(chunks).toString())?.[1])
    if (sentAt > 0) delays.push(Date.now() - sentAt)
    response.writeHead(204).end()
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`))
