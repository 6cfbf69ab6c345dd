import type pg from 'pg'
import type { Connect } from './connect.ts'
import { ConnectBackoff } from './retry-rules.ts'

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
  connect: Connect
  /** After how long without a word the connection counts as lost, for tests that cannot wait. */
  silenceMs?: number | undefined
  /** Told when it hears nothing, and again when it does: what was said in between was said to nobody. */
  onChange(isHearing: boolean, error?: unknown): void
}

/** A server that has gone without a word is found out by asking. */
const askEveryMs = 7_500
/** Something on the way may take a connection and end it at once, again and again. */
const leastPauseMs = 50
/** A server that does not close its side in this time is gone. */
const goodbyeMs = 1_000

/** One connection that listens to all channels, from when it is first needed, and again whenever it ends. */
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
    // Of an error the driver makes no end.
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
      // Of those that come while it opens, each is said by itself: to listen twice does no harm.
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

/** The driver's declarations leave it out. */
const pidOf = (client: pg.Client | null): number | null =>
  (client as { processID?: number | null } | null)?.processID ?? null

/** Ends the connection when it has not answered since it was asked last. */
function askNowAndThen(client: pg.Client, everyMs: number): void {
  let hasAnswered = true
  const ask = () => {
    if (!hasAnswered) return void client.connection.stream.destroy(new Error('The database is silent'))
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
