import { sqlState } from '../postgres/failures.ts'
import type { Statement } from '../postgres/template.ts'

/**
 * Fields of a span, named by the OpenTelemetry conventions where they exist. Like log fields: ids, patterns and
 * constants, never a URL, header, body, statement parameter or user input.
 */
export interface SpanFields {
  'http.request.method'?: string
  /** The route pattern. */
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

/** A span in progress. */
export interface Span {
  /** This span in the W3C format, to propagate. */
  readonly traceparent: string
  /** False if the trace is only propagated, not recorded: then there are no child spans. */
  readonly isSampled: boolean
  child(kind: SpanKind, name: string, fields?: SpanFields, links?: readonly Span[]): Span
  setFields(fields: SpanFields): void
  /** Ends the span, with a class of error if it failed. */
  end(problem?: string): void
}

/** Starts traces. Exists only if tracing is configured. */
export interface Tracer {
  /** Starts a span that continues the trace of `traceparent`, if given. */
  begin(kind: SpanKind, name: string, fields: SpanFields, traceparent: string | null): Span
}

const invalidIds = /^(?:0{32}-[0-9a-f]{16}|[0-9a-f]{32}-0{16})/

/** Returns the first 55 characters of a valid W3C `traceparent`, as version 00; null otherwise. */
export function parseTraceparent(text: unknown): string | null {
  if (typeof text !== 'string' || text.length > 512) return null
  if (!/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:$|-)/.test(text)) return null
  const version = text.slice(0, 2)
  // Later versions append fields to those of version 00.
  if (version === 'ff' || (version === '00' && text.length !== 55) || invalidIds.test(text.slice(3))) return null
  return `00-${text.slice(3, 55)}`
}

const bytes = 25

/** Packs a `traceparent` into 25 bytes: the ids and flags. */
export function packTraceparent(text: string): Buffer {
  return Buffer.from(text.slice(3).replaceAll('-', ''), 'hex')
}

export function unpackTraceparent(packed: Buffer | null): string | null {
  if (packed?.length !== bytes) return null
  const hex = packed.toString('hex')
  return parseTraceparent(`00-${hex.slice(0, 32)}-${hex.slice(32, 48)}-${hex.slice(48)}`)
}

/** Returns the class of an error. Messages may quote user input. */
export const errorClass = (error: unknown): string => (error instanceof Error ? error.constructor.name : typeof error)

/** Enough to find the operation and table. The text contains no parameters. */
const maxTextLength = 4_000

// Excludes the `update` of `for update` and `on conflict do update`.
const writes = /(?<!for )\b(insert into|update|delete from) (?!set\b)([a-z_]{1,63})\b/
const reads = /\bfrom ([a-z_]{1,63})\b(?!\()/

/** Starts a span for a statement, and returns the function that ends it. */
export function statementSpan(parent: Span, { text }: Statement): (error?: unknown) => void {
  const { operation, table } = parseStatement(text)
  const span = parent.child('client', table === undefined ? operation : `${operation} ${table}`, {
    'db.system.name': 'postgresql',
    'db.operation.name': operation,
    ...(table !== undefined && { 'db.collection.name': table }),
  })
  return (error) => span.end(error === undefined ? undefined : sqlState(error) || errorClass(error))
}

/** Returns the operation and its first table, both from Parley's own SQL. */
function parseStatement(text: string): { operation: string; table?: string } {
  const words = text.slice(0, maxTextLength).trim().replaceAll(/\s+/g, ' ')
  const [, write, written] = writes.exec(words) ?? []
  const [, read] = reads.exec(words) ?? []
  const [first = ''] = /^[a-z]{1,20}/.exec(words) ?? []
  if (write !== undefined && written !== undefined) return { operation: write.split(' ')[0] ?? '', table: written }
  const operation = first === 'with' ? 'select' : first || 'statement'
  return read === undefined ? { operation } : { operation, table: read }
}
