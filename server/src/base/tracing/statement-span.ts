import { sqlState } from '../postgres/failures.ts'
import type { Statement } from '../postgres/template.ts'
import { problemOf, type Span } from './span.ts'

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
export function whatItDoes(text: string): { operation: string; table?: string } {
  const words = text.slice(0, maxRead).trim().replaceAll(/\s+/g, ' ')
  const [, write, written] = writes.exec(words) ?? []
  const [, read] = reads.exec(words) ?? []
  const [first = ''] = /^[a-z]{1,20}/.exec(words) ?? []
  if (write !== undefined && written !== undefined) return { operation: write.split(' ')[0] ?? '', table: written }
  const operation = first === 'with' ? 'select' : first || 'statement'
  return read === undefined ? { operation } : { operation, table: read }
}
