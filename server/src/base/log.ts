import { type DestinationStream, pino } from 'pino'
import { isUnavailable } from './postgres/failures.ts'

// The only fields of a log line: ids, patterns and counts. Never a URL, header, body or any value that a person
// entered, because they contain phones, names and search terms.
const ids = ['requestId', 'traceId', 'keyId', 'workspaceId', 'memberId', 'endpointId', 'eventId'] as const
const subjects = ['connectionId', 'conversationId', 'messageId', 'leadId', 'mailId'] as const
/** `route` is a pattern, such as `/api/v1/leads/:identifier`; `tool` is the tool that an agent called. */
const words = ['method', 'route', 'tool', 'job', 'code', 'host', 'version'] as const
const numbers = ['status', 'durationMs', 'timeoutMs', 'aheadMs', 'attempt', 'count', 'port'] as const
const texts = [...ids, ...subjects, ...words] as const
const allowedNames: ReadonlySet<string> = new Set([...texts, ...numbers])

export type LogFields = { [name in (typeof texts)[number]]?: string | undefined } & {
  [name in (typeof numbers)[number]]?: number | undefined
}

/** Messages are constant texts; variable parts are fields. */
export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields, error?: unknown): void
  error(message: string, fields?: LogFields, error?: unknown): void
}

const maxFieldLength = 200
const maxCauses = 3

/** While the database is unavailable every loop fails repeatedly: each such message is written once per interval. */
const repeatIntervalMs = 30_000

/**
 * Writes one JSON object per line to `destination`, by default standard output. An error that means an unavailable
 * database is logged as a warning, because the work is retried; `count` is the number of lines skipped since the last
 * one.
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

// On exit the remaining lines are flushed for up to 2 s: a reader that stopped reading would block the process forever.
function standardOutput(): DestinationStream {
  let endsAtMs = Number.POSITIVE_INFINITY
  process.once('exit', () => {
    endsAtMs = performance.now() + maxFlushMs
  })
  return pino.destination({ fd: 1, sync: false, retryEAGAIN: () => performance.now() < endsAtMs })
}

// An object of a wider type passes the type check, so the fields are also picked by name.
function pick(fields: LogFields = {}): Record<string, string | number> {
  const picked: Record<string, string | number> = {}
  for (const name in fields) {
    if (!allowedNames.has(name)) continue
    const value = fields[name as keyof LogFields]
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
 * Describes an error without values: class, code and stack frames. Leaves out messages, because the driver, the
 * database and parsers quote input in them ("invalid input syntax for type uuid: …").
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

// A message can contain lines that look like frames: cut it off by its length.
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
