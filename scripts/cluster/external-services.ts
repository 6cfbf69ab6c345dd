// The services outside Parley: a proxy that records requests to the chat platform and forwards them to the simulator,
// and a receiver of webhooks.
//
//   node scripts/cluster/external-services.ts <address to listen on> <folder>
//
// Each line of `sends.jsonl` and `webhooks.jsonl` in the folder is one request, in order of arrival.
import { openSync, writeSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ports } from './machines.ts'

/** Request to the platform to send a message. */
export interface SendRequest {
  at: number
  text: string
}

export interface ReceivedWebhook {
  at: number
  id: string
  event: string
  /** Number of changes of the lead at the time of the event, if the body contains it. */
  step: number | null
}

const [host = '', folder = ''] = process.argv.slice(2)
const sends = openSync(join(folder, 'sends.jsonl'), 'a')
const webhooks = openSync(join(folder, 'webhooks.jsonl'), 'a')
// Records before answering, so that everything acknowledged is recorded.
const record = (file: number, line: SendRequest | ReceivedWebhook) => writeSync(file, `${JSON.stringify(line)}\n`)

createServer(async (asked, answer) => {
  const body = await text(asked)
  if (asked.method === 'POST' && /\/messages$/.test(asked.url ?? '') && !asked.url?.startsWith('/simulator/')) {
    const words: unknown = JSON.parse(body).text?.body
    if (typeof words === 'string') record(sends, { at: Date.now(), text: words })
  }
  forward(asked, body, answer)
}).listen(ports.platform, host)

createServer(async (asked, answer) => {
  const body = await text(asked)
  const { 'webhook-id': id, 'webhook-event': event } = asked.headers
  const step = /"lastName":"step-(\d+)"/.exec(body)?.[1]
  record(webhooks, {
    at: Date.now(),
    id: String(id),
    event: String(event),
    step: step === undefined ? null : Number(step),
  })
  answer.writeHead(204).end()
}).listen(ports.receiver, host)

function forward(asked: IncomingMessage, body: string, answer: ServerResponse): void {
  const { method, url, headers } = asked
  const onward = request({ host, port: ports.simulator, method, path: url, headers }, (reply) => {
    answer.writeHead(reply.statusCode ?? 502, reply.headers)
    reply.pipe(answer)
  })
  onward.on('error', () => answer.writeHead(502).end())
  onward.end(body)
}
