import { sqlState } from '../postgres/failures.ts'
import type { Statement } from '../postgres/template.ts'

/**
 * What a span may say, under the names of OpenTelemetry's conventions where there are some. As with log lines: ids, patterns,
 * and words of our own; never a url, a header, a body, a parameter of a statement or any value that a person typed.
 */
export interface SpanFields {
  'http.request.method'?: string
  /** The pattern. */
  'http.route'?: string
  'http.response.status_code'?: number
  'server.address'?: string
  'server.port'?: number
  'db.system.name'?: 'postgresql'
  'db.operation.name'?: string
  'db.collection.name'?: string
  'error.type'?: string
  'parley.request_id'?: string
  'parley.key_id'?: string
  'parley.workspace_id'?: string
  'parley.endpoint_id'?: string
  'parley.event_id'?: string
  'parley.event'?: string
  'parley.attempt'?: number
  'parley.channel'?: string
  'parley.outcome'?: string
  'parley.job'?: string
  'parley.count'?: number
}

export type SpanKind = 'server' | 'client' | 'producer' | 'internal'

/** A part of a trace that is under way. */
export interface Span {
  /** Itself, as W3C spells it for others to go on from. */
  readonly traceparent: string
  /** False where the trace goes on for others and is told to nobody: there are no parts then. */
  readonly isKept: boolean
  child(kind: SpanKind, name: string, fields?: SpanFields, links?: readonly Span[]): Span
  note(fields: SpanFields): void
  /** With a word for what went wrong, if anything did. */
  end(problem?: string): void
}

/** Begins traces. There is none unless an operator wants traces. */
export interface Tracer {
  /** Goes on with the trace of `traceparent`, whoever began it. */
  begin(kind: SpanKind, name: string, fields: SpanFields, traceparent: string | null): Span
}

const none = /^(?:0{32}-[0-9a-f]{16}|[0-9a-f]{32}-0{16})/

/** The first 55 characters of a `traceparent` that holds what W3C says, in its first version; null for any other. */
export function readTraceparent(text: unknown): string | null {
  if (typeof text !== 'string' || text.length > 512) return null
  if (!/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:$|-)/.test(text)) return null
  const version = text.slice(0, 2)
  // What later versions add comes after what the first one has.
  if (version === 'ff' || (version === '00' && text.length !== 55) || none.test(text.slice(3))) return null
  return `00-${text.slice(3, 55)}`
}

const bytes = 25

/** A `traceparent` in as few bytes as there are: the ids and the flags. */
export function packTraceparent(text: string): Buffer {
  return Buffer.from(text.slice(3).replaceAll('-', ''), 'hex')
}

export function unpackTraceparent(packed: Buffer | null): string | null {
  if (packed?.length !== bytes) return null
  const hex = packed.toString('hex')
  return readTraceparent(`00-${hex.slice(0, 32)}-${hex.slice(32, 48)}-${hex.slice(48)}`)
}

/** The class of what was thrown: messages may quote what somebody sent. */
export const problemOf = (error: unknown): string => (error instanceof Error ? error.constructor.name : typeof error)

/** Far enough to see what a statement does: the parameters are not in its text at all. */
const maxRead = 4_000

// Not the `update` of `for update` and of `on conflict do update`.
const writes = /(?<!for )\b(insert into|update|delete from) (?!set\b)([a-z_]{1,63})\b/
const reads = /\bfrom ([a-z_]{1,63})\b(?!\()/

/** Tells the part of the trace that a statement is, and returns what is to be called with its end. */
export function statementSpan(parent: Span, { text }: Statement): (error?: unknown) => void {
  const { operation, table } = whatItDoes(text)
  const span = parent.child('client', table === undefined ? operation : `${operation} ${table}`, {
    'db.system.name': 'postgresql',
    'db.operation.name': operation,
    ...(table !== undefined && { 'db.collection.name': table }),
  })
  return (error) => span.end(error === undefined ? undefined : sqlState(error) || problemOf(error))
}

/** The operation and its first table, both words of our own. */
function whatItDoes(text: string): { operation: string; table?: string } {
  const words = text.slice(0, maxRead).trim().replaceAll(/\s+/g, ' ')
  const [, write, written] = writes.exec(words) ?? []
  const [, read] = reads.exec(words) ?? []
  const [first = ''] = /^[a-z]{1,20}/.exec(words) ?? []
  if (write !== undefined && written !== undefined) return { operation: write.split(' ')[0] ?? '', table: written }
  const operation = first === 'with' ? 'select' : first || 'statement'
  return read === undefined ? { operation } : { operation, table: read }
}
