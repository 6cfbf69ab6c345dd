// The thread of receivers.ts: takes deliveries, checks their signatures, and answers as each endpoint behaves.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { Webhook } from 'standardwebhooks'
import { fastClock } from '../fast-clock.ts'
import type { Arrival, Behaviour, ReceiversTask } from './receivers.ts'

interface Question {
  question: number
  wanted?: { receiver: number; events: number }[]
}

const task = workerData as ReceiversTask
const verifiers = task.receivers.map(({ secret }) => new Webhook(secret))
const arrivals: Arrival[] = []
const taken = task.receivers.map(() => new Set<string>())
let open: Question[] = []

// The official library asks the global clock.
const clock = fastClock(task.time)
const realNow = () => performance.timeOrigin + performance.now()
Date.now = () => clock.now().getTime()

const server = createServer(async (request, response) => {
  const at = realNow()
  const body = await bytesOf(request)
  const receiver = Number(request.url?.slice(1))
  const behaviour = task.receivers[receiver]?.behaviour
  if (behaviour === undefined || body === null) return
  const sender = { worker: Number(request.headers['x-worker']), sentAt: Number(request.headers['x-sent-at']) }
  const told = read(request, body, receiver)
  const arrival: Arrival = { receiver, at, ...sender, status: null, answeredAt: null, ...told }
  arrivals.push(arrival)
  answer(arrival, behaviour, response)
})
// A sender keeps its connections; that of a dead one is closed by its system.
server.keepAliveTimeout = 60_000

/** Null when the sender died amid its words. */
async function bytesOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks)
  } catch {
    return null
  }
}

function read({ headers }: IncomingMessage, body: Buffer, receiver: number) {
  const id = String(headers['webhook-id'])
  const hash = createHash('sha256').update(body).digest('base64')
  try {
    const told = verifiers[receiver]?.verify(body, headers as Record<string, string>) as {
      event?: string
      payload?: { subject: string; n: number }
    }
    const isWrapped = String(headers['webhook-event']).startsWith('inbox.')
    if (isWrapped && told.event !== headers['webhook-event']) throw new Error('The body names another event')
    const { subject, n } = (isWrapped ? told.payload : told) as { subject: string; n: number }
    return { id, hash, subject, n, problem: null }
  } catch (error) {
    return { id, hash, subject: '', n: -1, problem: String(error) }
  }
}

function answer(arrival: Arrival, behaviour: Behaviour, response: ServerResponse): void {
  if (behaviour.kind === 'hanging') return
  const end = (status: number) => {
    arrival.status = status
    arrival.answeredAt = realNow()
    if (status === 200) taken[arrival.receiver]?.add(arrival.id)
    response.writeHead(status, { 'content-length': 0 }).end()
    answerQuestions()
  }
  if (behaviour.kind === 'slow') setTimeout(end, behaviour.afterMs, 200)
  else end(fails(behaviour, arrival) ? 500 : 200)
}

const failures = new Map<string, number>()

function fails(behaviour: Behaviour, { receiver, id, n, at }: Arrival): boolean {
  const failed = failures.get(`${receiver} ${id}`) ?? 0
  const isFailing =
    behaviour.kind === 'failing' ||
    // One that fails an event too often puts it off for longer than a test lasts.
    (behaviour.kind === 'flapping' && failed < 2 && Math.floor(at / behaviour.spellMs) % 3 === 0) ||
    (behaviour.kind === 'stumbling' && failed < 1 && n % 4 === 1)
  if (isFailing) failures.set(`${receiver} ${id}`, failed + 1)
  return isFailing
}

function answerQuestions(): void {
  const isAnswered = ({ wanted = [] }: Question) =>
    wanted.every(({ receiver, events }) => (taken[receiver]?.size ?? 0) >= events)
  const answered = open.filter(isAnswered)
  if (answered.length === 0) return
  open = open.filter((question) => !answered.includes(question))
  for (const { question } of answered) parentPort?.postMessage({ question, answer: null })
}

parentPort?.on('message', (question: Question) => {
  if (question.wanted === undefined) parentPort?.postMessage({ question: question.question, answer: arrivals })
  else {
    open.push(question)
    answerQuestions()
  }
})
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port))
