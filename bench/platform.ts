// A chat platform that takes every message at once. Run by run.ts in a process of its own.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let sent = 0
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    const body = JSON.stringify({ messaging_product: 'whatsapp', messages: [{ id: `wamid.OUT${++sent}` }] })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`))
