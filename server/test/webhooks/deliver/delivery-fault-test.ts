import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../../src/base/clock.ts'
import { relayMessages } from '../../../src/base/pubsub.ts'
import { recordEvents } from '../../../src/events/record.ts'
import { createSecret } from '../../../src/webhooks/endpoint/signing.ts'
import { testDatabase } from '../../support/database.ts'
import { atEnd, oncePerFile } from '../../support/file-lifecycle.ts'
import { newFolder } from '../../support/folder.ts'
import { type Program, startProgram } from '../../support/program/program.ts'
import { insertEndpoint } from '../../support/webhooks/insert-endpoint.ts'
import { verifyWebhook } from '../../support/webhooks/verify-webhook.ts'
import { type ReceivedWebhook, startReceiver } from '../../support/webhooks/webhook-receiver.ts'
import { world } from '../../support/world.ts'
import type { DeliveringTask } from './delivering-program.ts'
import { fastClock } from './fast-clock.ts'

/** `flapping` fails a third of the requests, at most twice per event; `stumbling` fails every fourth event once. */
export type Behaviour = 'good' | 'slow' | 'failing' | 'hanging' | 'flapping' | 'stumbling'

/** A received delivery; `status` is null while it hangs. */
type Arrival = ReturnType<typeof read> & { endpoint: number; status: number | null; answeredAt: number }

const time = { startMs: Date.now(), speed: 30 }
const clock = fastClock(time)
const program = fileURLToPath(new URL('delivering-program.ts', import.meta.url))
/** Longer than an attempt and the save of its result: older requests are never repeated. */
const unsettledMs = 15_000
export const realNow = (): number => performance.timeOrigin + performance.now()

const relayed = oncePerFile(async () => {
  const stop = await relayMessages((await testDatabase()).db, () => {})
  atEnd(async () => stop())
})

/** Endpoints with these behaviors in several workspaces, events for them, and workers in separate processes. */
export async function deliveryFaultTest(behaviours: readonly Behaviour[], workspaces = 1) {
  const { db, options: database } = await testDatabase()
  await relayed()
  const worlds = await Promise.all(Array.from({ length: workspaces }, () => world()))
  const givenUpFile = join(await newFolder(), 'given-up')
  const arrivals: Arrival[] = []
  const written: { workspaceId: string; subject: string; n: number; committedAt: number }[] = []
  const kills: { worker: number; at: number }[] = []
  let onTaken = () => {}
  const addEndpoint = async (behaviour: Behaviour, endpoint: number) => {
    const { keyStore, workspaceId } = worlds[endpoint % workspaces] ?? assert.fail()
    const [receiver, { value: secret }] = [await startReceiver(), createSecret()]
    const id = await insertEndpoint(db, await keyStore.keyring(workspaceId), workspaceId, { url: receiver.url, secret })
    const fails = failuresOf(behaviour)
    const taken = new Set<string>()
    receiver.answer(async (webhook) => {
      const arrival: Arrival = { endpoint, ...read(webhook, secret), status: null, answeredAt: Number.NaN }
      arrivals.push(arrival)
      if (behaviour === 'hanging') return 'hang'
      if (behaviour === 'slow') await sleep(300)
      arrival.status = fails(arrival) ? 500 : 200
      arrival.answeredAt = realNow()
      if (arrival.status === 200) taken.add(webhook.id)
      onTaken()
      return { status: arrival.status }
    })
    return { id, workspaceId, behaviour, url: receiver.url, taken }
  }
  const endpoints = await Promise.all(behaviours.map(addEndpoint))
  const isTaken = () =>
    endpoints
      .filter(({ behaviour }) => behaviour !== 'failing' && behaviour !== 'hanging')
      .every(({ workspaceId, taken }) => taken.size >= written.filter((one) => one.workspaceId === workspaceId).length)
  return {
    db,
    endpoints,
    workspaceIds: worlds.map(({ workspaceId }) => workspaceId),
    arrivals,
    written,
    kills,
    /** Commits the next event of a subject. Every third is an inbox event, which has an envelope. */
    write: async (workspaceId: string, subject: string, n: number) => {
      const name = n % 3 === 2 ? 'inbox.message.received' : 'lead.updated'
      const payload = { subject, n, text: 'Hello, is the blue one still there? '.repeat(8) }
      const keyring = await (worlds[0] ?? assert.fail()).keyStore.keyring(workspaceId)
      const event = { name, subjectId: subject, connectionId: null, payload } as const
      await db.tx((tx) => recordEvents(tx, keyring, workspaceId, [event], systemClock.now()))
      written.push({ workspaceId, subject, n, committedAt: realNow() })
    },
    startWorker: async (dieAfter: DeliveringTask['dieAfter'] = null): Promise<Program> => {
      const task: DeliveringTask = { database, time, givenUpFile, dieAfter }
      const worker = startProgram([program, JSON.stringify(task)])
      await worker.waitForLine('ready')
      return worker
    },
    /** Resolves when each responding endpoint has received all events. */
    allTaken: async () => {
      while (!isTaken()) await new Promise<void>((resolve) => (onTaken = resolve))
    },
    /** Requests that timed out: the endpoint may have processed them, and gets them again. */
    givenUp: () => (existsSync(givenUpFile) ? readFileSync(givenUpFile, 'utf8').trimEnd().split('\n') : []),
  }
}

export type DeliveryFaultTest = Awaited<ReturnType<typeof deliveryFaultTest>>

function failuresOf(behaviour: Behaviour): (arrival: Arrival) => boolean {
  const failures = new Map<string, number>()
  return ({ subject, n, at }) => {
    const failed = failures.get(`${subject} ${n}`) ?? 0
    failures.set(`${subject} ${n}`, failed + 1)
    return (
      behaviour === 'failing' ||
      // More failures would delay the event beyond the test.
      (behaviour === 'flapping' && failed < 2 && Math.floor(at / 400) % 3 === 0) ||
      (behaviour === 'stumbling' && failed < 1 && n % 4 === 1)
    )
  }
}

/** Number of the event within its subject, and digest of id and body; times are Unix milliseconds of the real clock. */
function read(webhook: ReceivedWebhook, secret: string) {
  const { id, headers, text, event, body } = webhook
  const isWrapped = event.startsWith('inbox.')
  const { subject, n }: { subject: string; n: number } = isWrapped ? body.payload : body
  const digest = `${id} ${createHash('sha256').update(text).digest('base64')}`
  const sender = { worker: Number(headers['x-worker']), sentAt: Number(headers['x-sent-at']) }
  let problem = isWrapped && body.event !== event ? 'the body names another event' : null
  try {
    verifyWebhook(secret, webhook, clock.now())
  } catch (error) {
    problem = String(error)
  }
  return { subject, n, at: realNow(), digest, problem, ...sender }
}

/** Returns all violations of delivery guarantees as text, and the number of legitimate repeats. */
export function judge(trial: DeliveryFaultTest): { broken: string[]; repeats: number } {
  const { endpoints, written, arrivals, kills } = trial
  const [broken, known, taken, seen] = [
    [] as string[],
    new Map<string, string>(),
    new Map<string, Arrival>(),
    new Set(),
  ]
  const givenUp = new Set(trial.givenUp())
  const workspaces = new Map(written.map(({ subject, workspaceId }) => [subject, workspaceId]))
  let repeats = 0
  for (const arrival of arrivals) {
    const { endpoint, subject, n, digest, problem, status } = arrival
    const place = `${endpoint} ${subject} ${n}`
    const say = (words: string) => broken.push(`endpoint ${endpoint}, event ${n} of ${subject}: ${words}`)
    if (problem !== null) say(problem)
    if (workspaces.get(subject) !== endpoints[endpoint]?.workspaceId) say('is of another workspace')
    const first = known.get(`${subject} ${n}`) ?? digest
    known.set(`${subject} ${n}`, first)
    if (first !== digest) say('came with another id or body')
    const before = taken.get(`${endpoint} ${subject} ${n - 1}`)
    const isInOrder = n === 0 || (before !== undefined && before.answeredAt <= arrival.at)
    if (!seen.has(place) && !isInOrder) say('came before the one before was taken')
    seen.add(place)
    const earlier = taken.get(place)
    if (earlier !== undefined) {
      repeats++
      const kill = kills.find(({ worker }) => worker === earlier.worker)
      const isOfDead = kill !== undefined && kill.at - earlier.sentAt < unsettledMs
      const isOfGivenUp = givenUp.has(`${earlier.worker} ${endpoints[endpoint]?.url} ${digest.split(' ')[0]}`)
      if (!isOfDead && !isOfGivenUp) say('came again, though its first sender lived on')
    } else if (status === 200) taken.set(place, arrival)
  }
  for (const [endpoint, { workspaceId, behaviour }] of endpoints.entries()) {
    if (behaviour === 'failing' || behaviour === 'hanging') continue
    for (const event of written.filter((one) => one.workspaceId === workspaceId)) {
      const { subject, n } = event
      if (!taken.has(`${endpoint} ${subject} ${n}`)) broken.push(`endpoint ${endpoint} never took ${n} of ${subject}`)
    }
  }
  return { broken: broken.slice(0, 10), repeats }
}
