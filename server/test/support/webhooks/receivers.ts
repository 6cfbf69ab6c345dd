import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** How an endpoint answers. Of a flapping one every third spell is bad, and no event fails more than twice. */
export type Behaviour =
  | { kind: 'good' }
  | { kind: 'slow'; afterMs: number }
  | { kind: 'failing' }
  | { kind: 'hanging' }
  | { kind: 'flapping'; spellMs: number }
  /** Fails at the first attempt of every fourth event of a subject. */
  | { kind: 'stumbling' }

export interface Receiver {
  behaviour: Behaviour
  /** What its deliveries must be signed with. */
  secret: string
}

/** One delivery as it arrived; times in milliseconds since 1970, of the real clock. */
export interface Arrival {
  /** The place of its endpoint in the list. */
  receiver: number
  id: string
  subject: string
  /** The place of the event among those of its subject. */
  n: number
  at: number
  /** The process that sent it, and when it did. */
  worker: number
  sentAt: number
  /** Null while it was left to hang. */
  status: number | null
  answeredAt: number | null
  /** Of the body. */
  hash: string
  /** What the official library, or the reading of the body, found wrong with it. */
  problem: string | null
}

export interface Receivers {
  /** The address of the endpoint at this place of the list. */
  url(receiver: number): string
  /** Resolves once each of these endpoints has taken so many different events. */
  taken(wanted: readonly { receiver: number; events: number }[]): Promise<void>
  /** Every delivery so far, in order of arrival. */
  arrivals(): Promise<Arrival[]>
  stop(): Promise<void>
}

export interface ReceiversTask {
  receivers: readonly Receiver[]
  /** The time of those who sign: the official library refuses what is not of this moment. */
  time: { startMs: number; speed: number }
}

/** Endpoints on one port, in a thread of their own: what workers do never delays the record of it. */
export async function startReceivers(task: ReceiversTask): Promise<Receivers> {
  const thread = new Worker(new URL('receiving-thread.ts', import.meta.url), { workerData: task })
  const [port] = await once(thread, 'message')
  let questions = 0
  const waiting = new Map<number, (answer: unknown) => void>()
  thread.on('message', ({ question, answer }) => waiting.get(question)?.(answer))
  const ask = (about: object) =>
    new Promise<unknown>((resolve, reject) => {
      waiting.set(++questions, resolve)
      thread.once('error', reject)
      thread.postMessage({ question: questions, ...about })
    })
  thread.setMaxListeners(0)
  return {
    url: (receiver) => `http://127.0.0.1:${port}/${receiver}`,
    taken: async (wanted) => {
      await ask({ wanted })
    },
    arrivals: async () => (await ask({})) as Arrival[],
    stop: async () => {
      await thread.terminate()
    },
  }
}
