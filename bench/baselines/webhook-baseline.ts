// Lowest possible cost of delivering webhooks: requests in sequence on kept-alive connections, and the same through a
// job table leased in batches. No signatures, order, URL checks or log of attempts. Run by run.ts in a process of its
// own; POST / with a `BaselineTask` runs one and answers when it is done.
import { Agent, createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openBaselineDb } from './baseline-db.ts'

export interface BaselineTask {
  kind: 'bare' | 'leases'
  port: number
  count: number
  /** Concurrent requests. */
  width: number
}

interface Job {
  id: number
  body: string
}

const batch = 200
const db = await openBaselineDb({ reading: 0, writing: 1, transactions: 0 })

async function bare({ port, count, width }: BaselineTask): Promise<void> {
  const body = baselineBody()
  let next = 0
  await inFlight(port, width, () => (next++ < count ? body : undefined))
}

/** Works like a plain job queue: claims a batch, sends it, marks it as done, claims the next. */
async function leases({ port, width }: BaselineTask): Promise<void> {
  for (;;) {
    const jobs = await db.write<Job>(
      `update floor_jobs
      set lease_until = now() + interval '15 seconds'
      where id in (
        select id
        from floor_jobs
        where done_at is null
          and (lease_until is null or lease_until < now())
        order by id
        limit $1
        for update skip locked
      )
      returning id, body`,
      [batch],
    )
    if (jobs.length === 0) return
    const ids = jobs.map(({ id }) => id)
    await inFlight(port, width, () => jobs.pop()?.body)
    await db.write('update floor_jobs set done_at = now() where id = any ($1)', [ids])
  }
}

async function inFlight(port: number, width: number, next: () => string | undefined): Promise<void> {
  const agent = agentOf(width)
  const run = async () => {
    for (let body = next(); body !== undefined; body = next()) await post(agent, port, body)
  }
  await Promise.all(Array.from({ length: width }, run))
}

const agents = new Map<number, Agent>()

function agentOf(width: number): Agent {
  const agent = agents.get(width) ?? new Agent({ keepAlive: true, maxSockets: width })
  agents.set(width, agent)
  return agent
}

function post(agent: Agent, port: number, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const request = httpRequest({ agent, port, host: '127.0.0.1', method: 'POST', path: '/', headers }, (response) => {
      response.resume()
      response.on('end', resolve)
    })
    request.on('error', reject)
    request.end(body)
  })
}

const baselineBody = () => JSON.stringify({ at: performance.timeOrigin + performance.now(), text: 'x'.repeat(600) })

const server = createServer(async (request, response) => {
  let text = ''
  for await (const chunk of request) text += chunk
  const task = JSON.parse(text) as BaselineTask
  await (task.kind === 'bare' ? bare(task) : leases(task))
  response.end()
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`))
