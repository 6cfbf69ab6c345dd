import assert from 'node:assert/strict'

export interface StreamEvent {
  id: string
  event?: string
  // biome-ignore lint/suspicious/noExplicitAny: events of every shape
  data?: any
  comment?: string
}

export type OpenStream = Awaited<ReturnType<typeof openStream>>

/** Reads server-sent events block by block. */
export async function openStream(url: string, headers: Record<string, string>) {
  const controller = new AbortController()
  const reply = await fetch(url, { headers, signal: controller.signal })
  if (reply.status !== 200 || reply.body === null) assert.fail(`${reply.status} ${await reply.text()}`)
  const blocks: StreamEvent[] = []
  const waiting: ((streamEvent: StreamEvent) => void)[] = []
  const read = async (body: ReadableStream<Uint8Array>) => {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const bytes of body) {
      const parts = (rest + decoder.decode(bytes, { stream: true })).split('\n\n')
      rest = parts.pop() ?? ''
      for (const streamEvent of parts.map(readBlock)) {
        const resolveNext = waiting.shift()
        if (resolveNext === undefined) blocks.push(streamEvent)
        else resolveNext(streamEvent)
      }
    }
  }
  const ended = read(reply.body).catch((error) => {
    if (!controller.signal.aborted) throw error
  })
  /** Returns the next block of the stream. */
  const next = () => {
    const streamEvent = blocks.shift()
    return streamEvent === undefined
      ? new Promise<StreamEvent>((resolve) => waiting.push(resolve))
      : Promise.resolve(streamEvent)
  }
  return {
    headers: reply.headers,
    next,
    /** Returns the next event, which must have this name. */
    nextEvent: async (name: string) => {
      let streamEvent = await next()
      while (streamEvent.event === undefined) streamEvent = await next()
      assert.equal(streamEvent.event, name)
      return streamEvent
    },
    /** Skips to the next event of this name. */
    nextOf: async (name: string) => {
      let streamEvent = await next()
      while (streamEvent.event !== name) streamEvent = await next()
      return streamEvent
    },
    /** Resolves when the server has ended the stream. */
    ended,
    close: () => controller.abort(),
    /** Blocks received but not read. */
    left: (): readonly StreamEvent[] => blocks,
  }
}

function readBlock(block: string): StreamEvent {
  const fields = block.split('\n').map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon) || 'comment', line.slice(colon + 1).trimStart()]
  })
  const { data, ...streamEvent } = Object.fromEntries(fields)
  return { id: '', ...streamEvent, ...(data !== undefined && { data: JSON.parse(data) }) }
}
