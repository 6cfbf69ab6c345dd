// Directory service for other processes: returns the cell of a hash. Run by parts/directory-part.ts as a process.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { makeDirectory } from './parts/directory-part.ts'

const { cells } = makeDirectory(Number(process.env.ENTRIES ?? 1000))
const server = createServer((request, response) => {
  const cell = cells.get(request.url?.slice(1) ?? '')
  const body = cell === undefined ? '-' : String(cell)
  response.writeHead(200, { 'content-length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`))
