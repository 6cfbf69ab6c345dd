import { callbackOf, signedCallback, textsOf, webhookPath } from '../../callbacks.ts'
import { customerPhone, type SeededConnection } from '../../inbox-seed.ts'
import { openExchange } from '../../load.ts'

export interface BurstTraffic {
  connection: SeededConnection
  messages: number
  /** The n-th customer of the burst has the number `customerPhone(firstCustomer + n)`. */
  firstCustomer: number
  customers: number
  /** Customer who also writes in every twentieth callback; a page has this thread open. */
  watched: number
}

export interface BurstResult {
  seconds: number
  /** Durations of callbacks answered with 200, in ms. */
  latencies: number[]
  /** By message number: the time of the 200 to its callback, and whether it is from the watched customer. */
  acknowledged: Map<number, { at: number; isWatched: boolean }>
  /** Answers other than 200, by status; each callback was retried. */
  refused: Record<number, number>
  /** Callbacks sent twice although the first was accepted, as platforms do. */
  repeats: number
}

const sockets = 16
const mostInCallback = 20
const repeatEach = 50
const watchedEach = 20

/** External id of a message of the burst; its number also appears in the text, for pages to find. */
export const externalId = (n: number): string => `wamid.BURST${n}`
const textOf = (n: number): string => `Is it still there? I could come by tomorrow. #${n}.`

/** Returns the numbers of the messages in a text. */
export function numbersIn(text: string): number[] {
  return Array.from(text.matchAll(/#(\d+)\./g), ([, number]) => Number(number))
}

/** Sends callbacks with 1 to 20 messages each as fast as they are answered; retries those not answered with 200. */
export async function sendBurst(port: number, traffic: BurstTraffic): Promise<BurstResult> {
  const callbacks = callbacksOf(traffic)
  const result: BurstResult = { seconds: 0, latencies: [], acknowledged: new Map(), refused: {}, repeats: 0 }
  const started = performance.now()
  let next = 0
  const run = async () => {
    const exchange = openExchange(port)
    for (let n = next++; n < callbacks.length; n = next++) {
      const callback = callbacks[n] ?? []
      const bytes = bytesOf(traffic.connection, callback)
      for (let isTaken = false; !isTaken; ) {
        const sentAt = performance.now()
        const status = await exchange.send(bytes)
        isTaken = status === 200
        if (isTaken) result.latencies.push(performance.now() - sentAt)
        else result.refused[status] = (result.refused[status] ?? 0) + 1
      }
      const at = Date.now()
      for (const { number, customer } of callback) {
        result.acknowledged.set(number, { at, isWatched: customer === traffic.watched })
      }
      if (n % repeatEach === 0) {
        result.repeats++
        await exchange.send(bytes)
      }
    }
    exchange.close()
  }
  await Promise.all(Array.from({ length: sockets }, run))
  result.seconds = (performance.now() - started) / 1000
  return result
}

interface BurstMessage {
  number: number
  customer: number
}

function callbacksOf({ messages, customers, firstCustomer, watched }: BurstTraffic): BurstMessage[][] {
  const callbacks: BurstMessage[][] = []
  for (let number = 0; number < messages; ) {
    const size = Math.min(1 + (hashOf(callbacks.length) % mostInCallback), messages - number)
    const batch = Array.from({ length: size }, (_, i) => ({
      number: number + i,
      customer: firstCustomer + (hashOf(number + i) % customers),
    }))
    const [first] = batch
    if (first !== undefined && callbacks.length % watchedEach === 0) first.customer = watched
    callbacks.push(batch)
    number += size
  }
  return callbacks
}

/** Returns pseudo-random numbers, the same in each run. */
const hashOf = (n: number): number => (Math.imul(n + 1, 2_654_435_761) >>> 0) >>> 8

function bytesOf(connection: SeededConnection, batch: readonly BurstMessage[]): Buffer {
  const written = batch.map(({ number, customer }) => ({
    from: customerPhone(customer),
    id: externalId(number),
    body: textOf(number),
  }))
  return signedCallback(webhookPath(connection), callbackOf(connection, textsOf(written)))
}
