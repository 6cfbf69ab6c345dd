import { get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { openExchange, requestBytes } from '../../load.ts'
import { numbersIn } from './send-burst.ts'

export interface OpenPage {
  cookie: string
  workspaceId: string
  /** Threads that its user opens one after the other. */
  threads: readonly string[]
}

export interface FollowedPage {
  /** Time at which the stream delivered each message of the burst. */
  seen: Map<number, number>
  frames: Record<string, number>
  bytes: number
  /** Durations of reads of lists and threads in ms, with their start time to separate idle ones from others. */
  reads: { at: number; tookMs: number }[]
  refused: Record<number, number>
  /** Closes the page. */
  close(): Promise<void>
}

const human = { leastMs: 1_500, mostMs: 3_000 }
/** Pauses of the app after it has read lists and the open thread again, and after its counts. */
const [rereadMs, recountMs] = [250, 1_000]

/** Simulates a page of the web app: follows the stream, reads again what it names, and opens threads as a user. */
export async function openPage(port: number, { cookie, workspaceId, threads }: OpenPage): Promise<FollowedPage> {
  const path = `/api/team/v1/workspaces/${workspaceId}`
  let isOver = false
  let openThread = threads[0] ?? ''
  const followed: FollowedPage = { seen: new Map(), frames: {}, bytes: 0, reads: [], refused: {}, close }
  const read = async (exchange: ReturnType<typeof openExchange>, what: string) => {
    const started = performance.now()
    const status = await exchange.send(requestBytes('GET', `${path}/inbox${what}`, { cookie }))
    if (status === 200) followed.reads.push({ at: Date.now(), tookMs: performance.now() - started })
    else followed.refused[status] = (followed.refused[status] ?? 0) + 1
  }
  const counts = '/counts'
  const listWhat = '/conversations?view=all&limit=40'
  const threadWhat = (around: string) => `/conversations/${openThread}/timeline?${around}`

  const again = openExchange(port)
  let pendingReads = new Set<string>()
  const readsAgain = (async () => {
    for (let countedAt = 0; !isOver; ) {
      const asked = pendingReads
      pendingReads = new Set()
      for (const what of asked) {
        if (what !== counts) await read(again, what)
        else if (performance.now() - countedAt < recountMs) pendingReads.add(counts)
        else {
          countedAt = performance.now()
          await read(again, counts)
        }
      }
      await sleep(rereadMs)
    }
  })()
  const handleEvent = (event: string, data: string) => {
    followed.frames[event] = (followed.frames[event] ?? 0) + 1
    if (event === 'inbox.message.received') {
      const at = Date.now()
      for (const number of numbersIn(data)) followed.seen.set(number, at)
    } else if (event === 'team.conversation.changed') {
      pendingReads.add(counts)
      if (data.includes(openThread)) pendingReads.add(threadWhat('limit=50'))
    } else if (event === 'team.conversations.changed' || event === 'reset') {
      for (const what of [listWhat, counts, threadWhat('limit=50')]) pendingReads.add(what)
    }
  }
  const stream = await follow(port, `${path}/live`, cookie, (text) => {
    followed.bytes += text.length
    const [, event = '', data = ''] = /^event: (.*)\n(?:id: .*\n)?data: (.*)$/m.exec(text) ?? []
    if (event !== '') handleEvent(event, data)
  })

  const person = openExchange(port)
  const visits = (async () => {
    for (let n = 0; !isOver; n++) {
      if (n % 3 === 0) await read(person, listWhat)
      openThread = threads[n % threads.length] ?? ''
      await read(person, threadWhat('around=unread'))
      await sleep(human.leastMs + Math.random() * (human.mostMs - human.leastMs))
    }
  })()
  async function close(): Promise<void> {
    isOver = true
    stream.destroy()
    await Promise.all([visits, readsAgain])
    person.close()
    again.close()
  }
  return followed
}

/** Resolves when the stream is open. */
function follow(
  port: number,
  path: string,
  cookie: string,
  handleEvent: (frame: string) => void,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, headers: { cookie } }, (stream) => {
      if (stream.statusCode !== 200) reject(new Error(`The stream was answered with ${stream.statusCode}`))
      let rest = ''
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        const frames = (rest + chunk).split('\n\n')
        rest = frames.pop() ?? ''
        for (const frame of frames) handleEvent(frame)
      })
      stream.on('error', () => {})
      resolve(stream)
    }).on('error', reject)
  })
}
