import { once } from 'node:events'
import { Agent, createServer, get, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { atEnd } from '../file-end.ts'

/** Hands requests to whichever process says that it is ready, in turns, and tries none of them twice. */
export interface Balancer {
  url: string
  /** How many are ready now. */
  ready(): number
  /** What could not be passed on, or not answered to its end. */
  faults: string[]
  /** How many requests it has passed on to each. */
  served: number[]
}

interface Upstream {
  port: number
  isReady: boolean
  /** Keeps connections, as balancers do. */
  agent: Agent
}

const askEveryMs = 100

export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const faults: string[] = []
  const served = ports.map(() => 0)
  const upstreams: Upstream[] = ports.map((port) => ({ port, isReady: false, agent: new Agent({ keepAlive: true }) }))
  const asking = setInterval(() => {
    for (const upstream of upstreams) void ask(upstream)
  }, askEveryMs)
  let turn = 0
  const server = createServer((incoming, outgoing) => {
    const ready = upstreams.filter(({ isReady }) => isReady)
    const upstream = ready[turn++ % ready.length]
    if (upstream === undefined) return refuse(outgoing, 'nobody is ready')
    const at = upstreams.indexOf(upstream)
    served[at] = (served[at] ?? 0) + 1
    pass(upstream, incoming, outgoing)
  })
  const refuse = (outgoing: ServerResponse, why: string) => {
    faults.push(why)
    if (outgoing.headersSent) outgoing.destroy()
    else outgoing.writeHead(502).end()
  }
  const pass = ({ port, agent }: Upstream, incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method, url: path, headers } = incoming
    const passed = request({
      host: '127.0.0.1',
      port,
      method,
      path,
      headers: { ...headers, connection: 'keep-alive' },
      agent,
    })
    const failed = (error: Error) => outgoing.destroyed || refuse(outgoing, `${method} ${path}: ${error.message}`)
    passed.once('error', failed)
    passed.once('response', (answer) => {
      const { connection: _, ...shown } = answer.headers
      outgoing.writeHead(answer.statusCode ?? 502, shown)
      answer.once('error', failed)
      answer.pipe(outgoing)
    })
    outgoing.once('close', () => passed.destroy())
    incoming.pipe(passed)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(async () => {
    clearInterval(asking)
    for (const { agent } of upstreams) agent.destroy()
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    ready: () => upstreams.filter(({ isReady }) => isReady).length,
    faults,
    served,
  }
}

/** By a connection of its own each time, as those who look after processes do. */
function ask(upstream: Upstream): Promise<void> {
  return new Promise((resolve) => {
    const answered = (isReady: boolean) => {
      upstream.isReady = isReady
      resolve()
    }
    get({ host: '127.0.0.1', port: upstream.port, path: '/readyz', agent: false }, (answer) => {
      answer.resume()
      answered(answer.statusCode === 200)
    }).once('error', () => answered(false))
  })
}
