import type pg from 'pg'
import type { Connect } from './connect.ts'
import { ConnectBackoff } from './retry-rules.ts'

export interface Listener {
  /** Subscribes to a channel. Resolves when the subscription is active; survives reconnects. */
  listen(channel: string, onPayload: (payload: string) => void): Promise<void>
  /** Keeps the connection open without subscriptions. Resolves when it is open or could not be opened for now. */
  keepOpen(): Promise<void>
  /** Process id of the server session; null without a connection. */
  pid(): number | null
  close(): Promise<void>
}

export interface ListenerOptions {
  connect: Connect
  /** Time without an answer after which the connection counts as lost; shorter in tests. */
  silenceMs?: number | undefined
  /** Called when the connection is lost and when it is restored. Messages in between are lost. */
  onChange(isActive: boolean, error?: unknown): void
}

/** Interval of health checks, which detect a silent server. */
const checkEveryMs = 7_500
/** Prevents a tight loop if a proxy accepts connections and closes them immediately. */
const minPauseMs = 50
/** A server that doesn't close its side within this time is unreachable. */
const closeTimeoutMs = 1_000

/** Opens one LISTEN connection for all channels when first needed, and reopens it whenever it ends. */
export function createListener({ connect, silenceMs = checkEveryMs, onChange }: ListenerOptions): Listener {
  const channels = new Map<string, Set<(payload: string) => void>>()
  const backoff = new ConnectBackoff()
  const closing = new AbortController()
  let client: pg.Client | null = null
  let opening: Promise<void> | null = null
  let isLost = false
  let timer: NodeJS.Timeout | undefined
  const current = () => client

  const onNotification = ({ channel, payload }: pg.Notification) => {
    for (const onPayload of channels.get(channel) ?? []) onPayload(payload ?? '')
  }

  const open = () => {
    opening ??= tryToOpen().finally(() => {
      opening = null
    })
    return opening
  }

  const tryToOpen = async () => {
    const attempt = backoff.startAttempt(performance.now())
    try {
      const fresh = await connect(closing.signal)
      fresh.on('notification', onNotification)
      fresh.on('error', (error) => onLost(fresh, error))
      fresh.on('end', () => onLost(fresh))
      checkPeriodically(fresh, Math.min(checkEveryMs, silenceMs))
      for (const channel of channels.keys()) await fresh.query(`listen "${channel}"`).catch(closeOnError(fresh))
      if (closing.signal.aborted) return closeClient(fresh)
      client = fresh
    } catch (error) {
      attempt.failed()
      throw error
    }
    attempt.succeeded()
    if (isLost) onChange(true)
    isLost = false
  }

  const onLost = (ended: pg.Client, error?: unknown) => {
    // The driver emits no end after an error.
    ended.connection.stream.destroy()
    if (client !== ended) return
    client = null
    if (!closing.signal.aborted) scheduleReopen(error)
  }

  const scheduleReopen = (error: unknown) => {
    if (closing.signal.aborted) return
    if (!isLost) onChange(false, error)
    isLost = true
    const pauseMs = Math.max(minPauseMs, backoff.pauseMs(performance.now()))
    timer = setTimeout(() => void (client ?? open().catch(scheduleReopen)), pauseMs).unref()
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
    async keepOpen() {
      if (client === null && !isLost && !closing.signal.aborted) await open().catch(scheduleReopen)
    },
    pid: () => pidOf(client),
    async close() {
      closing.abort()
      clearTimeout(timer)
      await opening?.catch(() => undefined)
      if (client !== null) closeClient(client)
      client = null
    },
  }
}

/** The driver's type declarations lack it. */
const pidOf = (client: pg.Client | null): number | null =>
  (client as { processID?: number | null } | null)?.processID ?? null

/** Closes the connection if it has not answered the previous check. */
function checkPeriodically(client: pg.Client, everyMs: number): void {
  let hasAnswered = true
  const check = () => {
    if (!hasAnswered) return void client.connection.stream.destroy(new Error('The database does not respond'))
    hasAnswered = false
    client.query('select').then(
      () => {
        hasAnswered = true
      },
      () => undefined,
    )
  }
  const timer = setInterval(check, everyMs).unref()
  client.on('end', () => clearInterval(timer))
}

const closeOnError = (client: pg.Client) => (error: unknown) => {
  closeClient(client)
  throw error
}

function closeClient(client: pg.Client): void {
  client.end().catch(() => undefined)
  const timer = setTimeout(() => client.connection.stream.destroy(), closeTimeoutMs)
  client.on('end', () => clearTimeout(timer))
}
