import type pg from 'pg'

export interface Listener {
  /** Resolves once the database passes on what is said there; survives that the connection ends. */
  listen(channel: string, onPayload: (payload: string) => void): Promise<void>
  /** Has the connection though nobody listens, from now on. Resolves once it is there, or could not be had for now. */
  stay(): Promise<void>
  /** By which the server knows the connection; null while there is none. */
  pid(): number | null
  close(): Promise<void>
}

export interface ListenerOptions {
  connect(): Promise<pg.Client>
  /** Told when it hears nothing, and again when it does. */
  onChange(isHearing: boolean, error?: unknown): void
}

const firstPauseMs = 50
const longestPauseMs = 2_000
/** A server that has gone without a word is found out by asking. */
const askEveryMs = 10_000

/** One connection that listens, opened with the first channel, and again whenever it ends. */
export function createListener({ connect, onChange }: ListenerOptions): Listener {
  const channels = new Map<string, Set<(payload: string) => void>>()
  let client: pg.Client | null = null
  let opening: Promise<void> | null = null
  let isClosed = false
  let failures = 0
  let timer: NodeJS.Timeout | undefined
  let hasAnswered = true

  const open = () => {
    opening ??= tryToOpen().finally(() => {
      opening = null
    })
    return opening
  }

  const tryToOpen = async () => {
    const fresh = await connect()
    fresh.on('notification', ({ channel, payload }) => {
      for (const listener of channels.get(channel) ?? []) listener(payload ?? '')
    })
    fresh.on('error', (error) => lost(fresh, error))
    fresh.on('end', () => lost(fresh))
    try {
      for (const channel of channels.keys()) await fresh.query(`listen "${channel}"`)
    } catch (error) {
      end(fresh)
      throw error
    }
    if (isClosed) return end(fresh)
    client = fresh
    hasAnswered = true
    timer = setInterval(ask, askEveryMs).unref()
    if (failures > 0) onChange(true)
    failures = 0
  }

  const ask = () => {
    const asked = client
    if (asked === null) return
    if (!hasAnswered) return void asked.connection.stream.destroy(new Error('The database is silent'))
    hasAnswered = false
    asked.query('select').then(
      () => {
        hasAnswered = true
      },
      () => undefined,
    )
  }

  const lost = (ended: pg.Client, error?: unknown) => {
    if (client !== ended) return
    client = null
    clearInterval(timer)
    if (!isClosed) again(error)
  }

  const again = (error: unknown) => {
    if (failures === 0) onChange(false, error)
    const pauseMs = Math.min(firstPauseMs * 2 ** failures, longestPauseMs)
    failures++
    timer = setTimeout(() => void (isClosed || open().catch(again)), pauseMs).unref()
  }

  const end = (given: pg.Client) => {
    given.on('error', () => undefined)
    given.end().catch(() => undefined)
  }

  return {
    async listen(channel, onPayload) {
      const known = channels.get(channel)
      if (known !== undefined) {
        known.add(onPayload)
        await opening
        return
      }
      channels.set(channel, new Set([onPayload]))
      // Of those that come while it opens, each is said by itself: to listen twice does no harm.
      if (client === null) await open()
      await client?.query(`listen "${channel}"`)
    },
    async stay() {
      if (client === null && failures === 0 && !isClosed) await open().catch(again)
    },
    pid: () => (client === null ? null : pidOf(client)),
    async close() {
      isClosed = true
      clearInterval(timer)
      await opening?.catch(() => undefined)
      if (client !== null) end(client)
      client = null
    },
  }
}

/** The driver's declarations leave it out. */
const pidOf = (client: pg.Client): number | null => (client as { processID?: number | null }).processID ?? null
