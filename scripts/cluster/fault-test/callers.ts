import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, call, type RequestOptions } from './call.ts'
import { type Ledger, newLedger } from './guarantees.ts'
import { balancer, type World } from './world.ts'

export interface RecordedAnswer {
  at: number
  what: 'create' | 'change' | 'read' | 'callback' | 'send'
  status: Answer['status']
}

/** Clients that write and read continuously through the load balancer, and the answers they got. */
export interface Callers {
  ledger: Ledger
  /** All answers so far. */
  answers: readonly RecordedAnswer[]
  /** Times at which writes of leads were acknowledged. */
  acknowledgedAt(): number[]
  /** Pauses the callers; resolves when the current requests have ended. */
  pause(): Promise<void>
  resume(): void
  /** Resolves when the current work has been acknowledged. */
  stop(): Promise<void>
}

const changesEach = 2
const pauseMs = { lead: 40, callback: 100, send: 300, read: 200, refused: 100 }

export function startCallers(world: World): Callers {
  const answers: RecordedAnswer[] = []
  const ledger = newLedger()
  let isOver = false
  let open = Promise.withResolvers<void>()
  open.resolve()
  let inFlight = 0
  /** Sends one request and records its answer. Never retries: the caller knows whether a retry is safe. */
  const ask = async (what: RecordedAnswer['what'], path: string, options: RequestOptions): Promise<Answer> => {
    await open.promise
    inFlight++
    const answer = await call(balancer + path, { token: world.key, ...options })
    inFlight--
    answers.push({ at: performance.now(), what, status: answer.status })
    if (!isAcknowledged(answer)) await wait(pauseMs.refused)
    return answer
  }
  const context = { world, ledger, send: ask, isOver: () => isOver }
  const loops = [
    ...['ada', 'ben', 'eva', 'leo'].map((name) => writeLeads(context, `${name}-${randomUUID().slice(0, 8)}`)),
    ...[0, 1].map((offset) => writeCallbacks(context, offset)),
    ...[0, 1].map((offset) => writeSends(context, offset)),
    readLeads(context),
  ]
  const running = Promise.all(loops)
  running.catch(() => {})
  const isWrite = ({ what, status }: RecordedAnswer) => ['create', 'change'].includes(what) && isSuccess(status)
  const idle = async () => {
    while (inFlight > 0) await wait(10)
  }
  return {
    ledger,
    answers,
    acknowledgedAt: () => answers.filter(isWrite).map(({ at }) => at),
    pause: () => {
      open = Promise.withResolvers<void>()
      return idle()
    },
    resume: () => open.resolve(),
    stop: async () => {
      isOver = true
      open.resolve()
      await running
    },
  }
}

const isSuccess = (status: Answer['status']): boolean => typeof status === 'number' && status < 300
const isAcknowledged = ({ status }: Answer): boolean => isSuccess(status)

interface CallerContext {
  world: World
  ledger: Ledger
  send(what: RecordedAnswer['what'], path: string, options: RequestOptions): Promise<Answer>
  isOver(): boolean
}

/** Creates leads and changes each several times; retries a change until it is acknowledged. */
async function writeLeads({ ledger, send, isOver }: CallerContext, name: string): Promise<void> {
  for (let n = 0; !isOver(); n++) {
    const body = { firstName: 'Kim', lastName: 'step-0', externalRef: `${name}-${n}` }
    const created = await send('create', '/api/v1/leads', { method: 'POST', body })
    await wait(pauseMs.lead)
    // The lead may exist nevertheless, but it was not acknowledged.
    if (!isAcknowledged(created)) continue
    const id: string = JSON.parse(created.body).data.id
    const entry = { acknowledged: 0, attempted: 0 }
    ledger.leads.set(id, entry)
    while (entry.acknowledged < changesEach && !isOver()) {
      entry.attempted = entry.acknowledged + 1
      const change = { lastName: `step-${entry.attempted}` }
      const changed = await send('change', `/api/v1/leads/${id}`, { method: 'PATCH', body: change })
      if (isAcknowledged(changed)) entry.acknowledged = entry.attempted
      await wait(pauseMs.lead)
    }
  }
}

/** Sends callbacks as the platform does: repeats each one until it is accepted. */
async function writeCallbacks({ world, ledger, send, isOver }: CallerContext, offset: number): Promise<void> {
  const { connectionId, numberId, appSecret } = world.number
  for (let n = offset; !isOver(); n += 2) {
    const { phone } = world.customers[n % world.customers.length] ?? { phone: '' }
    const id = `wamid.TRIAL${randomUUID()}`
    const body = callbackOf(numberId, { id, phone })
    const signature = `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`
    const options: RequestOptions = { method: 'POST', headers: { 'x-hub-signature-256': signature }, body }
    while (!isAcknowledged(await send('callback', `/channels/waba/${connectionId}/webhook`, options))) {
      if (isOver()) return
    }
    ledger.callbacks.add(id)
    await wait(pauseMs.callback)
  }
}

/** Returns a message whose text is its own id. */
function callbackOf(numberId: string, { id, phone }: { id: string; phone: string }): string {
  const from = phone.replace('+', '')
  const message = { id, from, timestamp: String(Math.floor(Date.now() / 1000)), type: 'text', text: { body: id } }
  const metadata = { display_phone_number: '49301234567', phone_number_id: numberId }
  const value = { messaging_product: 'whatsapp', metadata, messages: [message] }
  const entry = [{ id: 'account', changes: [{ field: 'messages', value }] }]
  return JSON.stringify({ object: 'whatsapp_business_account', entry })
}

/** Sends messages with one idempotency key each, and retries with the same key until the result is known. */
async function writeSends({ world, ledger, send, isOver }: CallerContext, offset: number): Promise<void> {
  for (let n = offset; !isOver(); n += 2) {
    const { conversationId } = world.customers[n % world.customers.length] ?? { conversationId: '' }
    const key = `key-${randomUUID()}`
    const path = `/api/v1/inbox/conversations/${conversationId}/messages`
    const headers = { 'idempotency-key': key }
    const options: RequestOptions = { method: 'POST', headers, body: { kind: 'text', text: key } }
    for (;;) {
      const answer = await send('send', path, options)
      if (isAcknowledged(answer)) {
        ledger.sends.set(key, JSON.parse(answer.body).status)
        break
      }
      if (isOver()) return
    }
    await wait(pauseMs.send)
  }
}

async function readLeads({ send, isOver }: CallerContext): Promise<void> {
  while (!isOver()) {
    await send('read', '/api/v1/leads?limit=1', {})
    await wait(pauseMs.read)
  }
}
