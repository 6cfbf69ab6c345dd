import { type DestinationStream, pino } from 'pino'
import { isUnavailable } from './postgres/failures.ts'

// What a log line may hold beside its message: ids, patterns and counts. Never a url, a header, a body or any value that a
// person typed, since phones, names and search terms are in them.
const ids = ['requestId', 'traceId', 'keyId', 'workspaceId', 'memberId', 'endpointId', 'eventId'] as const
const subjects = ['connectionId', 'conversationId', 'messageId', 'leadId'] as const
/** `route` is a pattern, `/api/v1/leads/:identifier`; `tool` the tool that an agent called. */
const words = ['method', 'route', 'tool', 'job', 'code', 'host', 'version'] as const
const numbers = ['status', 'durationMs', 'timeoutMs', 'aheadMs', 'attempt', 'count', 'port'] as const
const texts = [...ids, ...subjects, ...words] as const

export type LogFields = { [name in (typeof texts)[number]]?: string | undefined } & {
  [name in (typeof numbers)[number]]?: number | undefined
}

/** Messages are constant texts: what varies goes into the fields. */
export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields, error?: unknown): void
  error(message: string, fields?: LogFields, error?: unknown): void
}

const maxFieldLength = 200
const maxCauses = 3

/** While the database is unavailable every loop fails again and again: each message about it is written once in this time. */
const repeatIntervalMs = 30_000

/**
 * Writes one JSON object a line to `destination`, standard output unless told otherwise. An error that says that the database is
 * unavailable is a warning, as what failed is tried again; `count` is how many such lines the last one of its message stands for.
 */
export function createLog(
  level: 'debug' | 'info' | 'warn' | 'error' | 'silent',
  destination: DestinationStream = standardOutput(),
  nowMs: () => number = () => performance.now(),
): Log {
  const outages = new Map<string, { untilMs: number; skipped: number }>()
  const writer = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  )
  return {
    debug: (message, fields) => writer.debug(pick(fields), message),
    info: (message, fields) => writer.info(pick(fields), message),
    warn: (message, fields, error) => write('warn', message, fields, error),
    error: (message, fields, error) => write('error', message, fields, error),
  }

  function write(at: 'warn' | 'error', message: string, fields: LogFields = {}, error?: unknown): void {
    if (!isUnavailable(error)) {
      writer[at](withError(fields, error), message)
      return
    }
    const key = `${message} ${fields.job ?? ''}`
    const last = outages.get(key)
    if (last && nowMs() < last.untilMs) {
      last.skipped += 1
      return
    }
    const skipped = last?.skipped ?? 0
    outages.set(key, { untilMs: nowMs() + repeatIntervalMs, skipped: 0 })
    writer.warn(withError(skipped > 0 ? { ...fields, count: skipped } : fields, error), message)
  }
}

const maxFlushMs = 2000

// At the end what is left is written and waited for: a reader that no longer reads would keep the process for ever.
function standardOutput(): DestinationStream {
  let endsAtMs = Number.POSITIVE_INFINITY
  process.once('exit', () => {
    endsAtMs = performance.now() + maxFlushMs
  })
  return pino.destination({ fd: 1, sync: false, retryEAGAIN: () => performance.now() < endsAtMs })
}

// A type is not a fence: an object of a wider type passes it, so the fields are picked by name as well.
function pick(fields: LogFields = {}): Record<string, string | number> {
  const picked: Record<string, string | number> = {}
  for (const name of [...texts, ...numbers]) {
    const value = fields[name]
    if (typeof value === 'number') picked[name] = value
    if (typeof value === 'string') picked[name] = value.slice(0, maxFieldLength)
  }
  return picked
}

function withError(fields: LogFields | undefined, error: unknown): object {
  return error === undefined ? pick(fields) : { ...pick(fields), err: describeError(error) }
}

export interface DescribedError {
  class: string
  code?: string
  constraint?: string
  stack?: string[]
  cause?: DescribedError
}

/**
 * An error without values: its class, code and the places it passed. Messages stay out, because the driver and the
 * database quote what was sent ("invalid input syntax for type uuid: …"), and so do parsers.
 */
export function describeError(error: unknown, depth = 0): DescribedError {
  if (!(error instanceof Error)) return { class: typeof error }
  const { code, constraint } = error as { code?: unknown; constraint?: unknown }
  return {
    class: error.constructor.name,
    ...(isToken(code) ? { code } : {}),
    ...(isToken(constraint) ? { constraint } : {}),
    stack: framesOf(error),
    ...(error.cause !== undefined && depth < maxCauses ? { cause: describeError(error.cause, depth + 1) } : {}),
  }
}

function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^\w{1,63}$/.test(value)
}

// The message may have lines of its own, one of which may look like a frame: take it off by its length.
function framesOf(error: Error): string[] {
  const stack = error.stack ?? ''
  const at = stack.indexOf(error.message)
  const frames = at === -1 ? stack : stack.slice(at + error.message.length)
  return frames
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^at .*:\d+:\d+\)?$/.test(line))
    .slice(0, 15)
}
