import type pg from 'pg'
import type { Connect } from './connect.ts'
import { ConnectBackoff } from './retry-rules.ts'

export interface Listener {
  /** Subscribes to a channel. Resolves when the subscription is active; survives reconnects. */
  listen(channel: string, onPayload: (payload: string) => void): Promise<void>
  /** Keeps the connection open without subscriptions. Resolves when it is open or could not be opened for now. */
  stay(): Promise<void>
  /** Process id of the server session; null without a connection. */
  pid(): number | null
  close(): Promise<void>
}

export interface ListenerOptions {
  connect: Connect
  /** Time without an answer after which the connection counts as lost; shorter in tests. */
  silenceMs?: number | undefined
  /** Called when the connection is lost and when it is restored. Messages in between are lost. */
  onChange(isHearing: boolean, error?: unknown): void
}

/** Interval of health checks, which detect a silent server. */
const askEveryMs = 7_500
/** Prevents a tight loop if a proxy accepts connections and closes them immediately. */
const leastPauseMs = 50
/** A server that doesn't close its side within this time is unreachable. */
const goodbyeMs = 1_000

/** Opens one LISTEN connection for all channels when first needed, and reopens it whenever it ends. */
export function createListener({ connect, silenceMs = askEveryMs, onChange }: ListenerOptions): Listener {
  const channels = new Map<string, Set<(payload: string) => void>>()
  const tries = new ConnectBackoff()
  const closing = new AbortController()
  let client: pg.Client | null = null
  let opening: Promise<void> | null = null
  let isDeaf = false
  let timer: NodeJS.Timeout | undefined
  const current = () => client

  const hear = ({ channel, payload }: pg.Notification) => {
    for (const onPayload of channels.get(channel) ?? []) onPayload(payload ?? '')
  }

  const open = () => {
    opening ??= tryToOpen().finally(() => {
      opening = null
    })
    return opening
  }

  const tryToOpen = async () => {
    const attempt = tries.begin(performance.now())
    try {
      const fresh = await connect(closing.signal)
      fresh.on('notification', hear)
      fresh.on('error', (error) => lost(fresh, error))
      fresh.on('end', () => lost(fresh))
      askNowAndThen(fresh, Math.min(askEveryMs, silenceMs))
      for (const channel of channels.keys()) await fresh.query(`listen "${channel}"`).catch(endOf(fresh))
      if (closing.signal.aborted) return end(fresh)
      client = fresh
    } catch (error) {
      attempt.failed()
      throw error
    }
    attempt.succeeded()
    if (isDeaf) onChange(true)
    isDeaf = false
  }

  const lost = (ended: pg.Client, error?: unknown) => {
    // The driver emits no end after an error.
    ended.connection.stream.destroy()
    if (client !== ended) return
    client = null
    if (!closing.signal.aborted) again(error)
  }

  const again = (error: unknown) => {
    if (closing.signal.aborted) return
    if (!isDeaf) onChange(false, error)
    isDeaf = true
    const pauseMs = Math.max(leastPauseMs, tries.pauseMs(performance.now()))
    timer = setTimeout(() => void (client ?? open().catch(again)), pauseMs).unref()
  }

  return {
    async listen(channel, onPayload) {
      const known = channels.get(channel)
      channels.set(channel, (known ?? new Set()).add(onPayload))
      if (known !== undefined) return void (await opening)
      // Concurrent calls each subscribe: repeated LISTEN is harmless.
      if (client === null) await open()
      await current()?.query(`listen "${channel}"`)
    },
    async stay() {
      if (client === null && !isDeaf && !closing.signal.aborted) await open().catch(again)
    },
    pid: () => pidOf(client),
    async close() {
      closing.abort()
      clearTimeout(timer)
      await opening?.catch(() => undefined)
      if (client !== null) end(client)
      client = null
    },
  }
}

/** The driver's type declarations lack it. */
const pidOf = (client: pg.Client | null): number | null =>
  (client as { processID?: number | null } | null)?.processID ?? null

/** Closes the connection if it has not answered the previous check. */
function askNowAndThen(client: pg.Client, everyMs: number): void {
  let hasAnswered = true
  const ask = () => {
    if (!hasAnswered) return void client.connection.stream.destroy(new Error('The database does not respond'))
    hasAnswered = false
    client.query('select').then(
      () => {
        hasAnswered = true
      },
      () => undefined,
    )
  }
  const timer = setInterval(ask, everyMs).unref()
  client.on('end', () => clearInterval(timer))
}

const endOf = (client: pg.Client) => (error: unknown) => {
  end(client)
  throw error
}

function end(client: pg.Client): void {
  client.end().catch(() => undefined)
  const timer = setTimeout(() => client.connection.stream.destroy(), goodbyeMs)
  client.on('end', () => clearTimeout(timer))
}
