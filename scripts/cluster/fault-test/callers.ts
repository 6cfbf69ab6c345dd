import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, type Asked, call } from './call.ts'
import { type Ledger, newLedger } from './promises.ts'
import { balancer, type World } from './world.ts'

export interface Answered {
  at: number
  what: 'create' | 'change' | 'read' | 'callback' | 'send'
  status: Answer['status']
}

/** Clients that write and read continuously through the load balancer, and the answers they got. */
export interface Callers {
  ledger: Ledger
  /** All answers so far. */
  answered: readonly Answered[]
  /** Times at which writes of leads were acknowledged. */
  writtenAt(): number[]
  /** Pauses the callers; resolves when the current requests have ended. */
  pause(): Promise<void>
  goOn(): void
  /** Resolves when the current work has been acknowledged. */
  stop(): Promise<void>
}

const changesEach = 2
const restMs = { lead: 40, callback: 100, send: 300, read: 200, refused: 100 }

export function startCallers(world: World): Callers {
  const answered: Answered[] = []
  const ledger = newLedger()
  let isOver = false
  let open = Promise.withResolvers<void>()
  open.resolve()
  let underWay = 0
  /** Sends one request and records its answer. Never retries: the caller knows whether a retry is safe. */
  const ask = async (what: Answered['what'], path: string, asked: Asked): Promise<Answer> => {
    await open.promise
    underWay++
    const answer = await call(balancer + path, { token: world.key, ...asked })
    underWay--
    answered.push({ at: performance.now(), what, status: answer.status })
    if (!isGood(answer)) await wait(restMs.refused)
    return answer
  }
  const working = { world, ledger, ask, isOver: () => isOver }
  const loops = [
    ...['ada', 'ben', 'eva', 'leo'].map((name) => writeLeads(working, `${name}-${randomUUID().slice(0, 8)}`)),
    ...[0, 1].map((turn) => writeCallbacks(working, turn)),
    ...[0, 1].map((turn) => writeSends(working, turn)),
    read(working),
  ]
  const running = Promise.all(loops)
  running.catch(() => {})
  const isWrite = ({ what, status }: Answered) => ['create', 'change'].includes(what) && isFine(status)
  const idle = async () => {
    while (underWay > 0) await wait(10)
  }
  return {
    ledger,
    answered,
    writtenAt: () => answered.filter(isWrite).map(({ at }) => at),
    pause: () => {
      open = Promise.withResolvers<void>()
      return idle()
    },
    goOn: () => open.resolve(),
    stop: async () => {
      isOver = true
      open.resolve()
      await running
    },
  }
}

const isFine = (status: Answer['status']): boolean => typeof status === 'number' && status < 300
const isGood = ({ status }: Answer): boolean => isFine(status)

interface Working {
  world: World
  ledger: Ledger
  ask(what: Answered['what'], path: string, asked: Asked): Promise<Answer>
  isOver(): boolean
}

/** Creates leads and changes each several times; retries a change until it is acknowledged. */
async function writeLeads({ ledger, ask, isOver }: Working, name: string): Promise<void> {
  for (let n = 0; !isOver(); n++) {
    const body = { firstName: 'Kim', lastName: 'step-0', externalRef: `${name}-${n}` }
    const created = await ask('create', '/api/v1/leads', { method: 'POST', body })
    await wait(restMs.lead)
    // The lead may exist nevertheless, but it was not acknowledged.
    if (!isGood(created)) continue
    const id: string = JSON.parse(created.body).data.id
    const entry = { acknowledged: 0, attempted: 0 }
    ledger.leads.set(id, entry)
    while (entry.acknowledged < changesEach && !isOver()) {
      entry.attempted = entry.acknowledged + 1
      const change = { lastName: `step-${entry.attempted}` }
      const changed = await ask('change', `/api/v1/leads/${id}`, { method: 'PATCH', body: change })
      if (isGood(changed)) entry.acknowledged = entry.attempted
      await wait(restMs.lead)
    }
  }
}

/** Sends callbacks as the platform does: repeats each one until it is accepted. */
async function writeCallbacks({ world, ledger, ask, isOver }: Working, turn: number): Promise<void> {
  const { connectionId, numberId, appSecret } = world.number
  for (let n = turn; !isOver(); n += 2) {
    const { phone } = world.customers[n % world.customers.length] ?? { phone: '' }
    const id = `wamid.TRIAL${randomUUID()}`
    const body = callbackOf(numberId, { id, phone })
    const signature = `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`
    const asked: Asked = { method: 'POST', headers: { 'x-hub-signature-256': signature }, body }
    while (!isGood(await ask('callback', `/channels/waba/${connectionId}/webhook`, asked))) {
      if (isOver()) return
    }
    ledger.callbacks.add(id)
    await wait(restMs.callback)
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
async function writeSends({ world, ledger, ask, isOver }: Working, turn: number): Promise<void> {
  for (let n = turn; !isOver(); n += 2) {
    const { conversationId } = world.customers[n % world.customers.length] ?? { conversationId: '' }
    const key = `key-${randomUUID()}`
    const path = `/api/v1/inbox/conversations/${conversationId}/messages`
    const headers = { 'idempotency-key': key }
    const asked: Asked = { method: 'POST', headers, body: { kind: 'text', text: key } }
    for (;;) {
      const answer = await ask('send', path, asked)
      if (isGood(answer)) {
        ledger.sends.set(key, JSON.parse(answer.body).status)
        break
      }
      if (isOver()) return
    }
    await wait(restMs.send)
  }
}

async function read({ ask, isOver }: Working): Promise<void> {
  while (!isOver()) {
    await ask('read', '/api/v1/leads?limit=1', {})
    await wait(restMs.read)
  }
}
