// Chat platform that accepts every message, immediately or after a delay. Run by run.ts in a process of its own.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const delayMs = Number(process.env.DELAY_MS ?? 0)
let sent = 0
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    if (delayMs === 0) answer(response)
    else setTimeout(answer, delayMs, response)
  })
})

function answer(response: ServerResponse): void {
  const body = JSON.stringify({ messaging_product: 'whatsapp', messages: [{ id: `wamid.OUT${++sent}` }] })
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

server.listen(0, '127.0.0.1', () => process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`))
