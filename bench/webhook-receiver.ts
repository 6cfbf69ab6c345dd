// Accepts every webhook at once and records its time of arrival. GET /500 answers when 500 have arrived, with the
// figures since the last GET. Run by run.ts in a process of its own.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  count: number
  /** From the first to the last. */
  perSecond: number
  /** From `at` in the body to the arrival. */
  p50Ms: number
  p99Ms: number
  /** Webhooks per second in each tenth of them. */
  tenths: number[]
}

let times: number[] = []
let delays: number[] = []
let wanted = Number.POSITIVE_INFINITY
let tell = () => {}
const now = () => performance.timeOrigin + performance.now()

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    wanted = Number(request.url?.slice(1))
    tell = () => {
      wanted = Number.POSITIVE_INFINITY
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(figures()))
    }
    if (times.length >= wanted) tell()
    return
  }
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk) => {
    text += chunk
  })
  request.on('end', () => {
    const at = now()
    times.push(at)
    delays.push(at - Number(/"at":([\d.]+)/.exec(text)?.[1] ?? Number.NaN))
    response.writeHead(200, { 'content-length': 0 }).end()
    if (times.length >= wanted) tell()
  })
})
server.keepAliveTimeout = 600_000

function figures(): Received {
  delays.sort((a, b) => a - b)
  const share = (part: number) => delays[Math.min(delays.length - 1, Math.floor(delays.length * part))] ?? 0
  const rate = (from: number, to: number) => ((to - from) * 1000) / ((times[to] ?? 0) - (times[from] ?? 0))
  const last = times.length - 1
  const place = (tenth: number) => Math.floor((last * tenth) / 10)
  const answer = {
    count: times.length,
    perSecond: rate(0, last),
    p50Ms: share(0.5),
    p99Ms: share(0.99),
    tenths: Array.from({ length: 10 }, (_, n) => rate(place(n), place(n + 1))),
  }
  times = []
  delays = []
  return answer
}

server.listen(0, '127.0.0.1', () => process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`))
