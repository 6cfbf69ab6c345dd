import { mayTryAgain } from '../async/patience.ts'
import { ConnectionLost, endsSession, isOfServer, sqlState } from './failures.ts'
import type { Statement } from './template.ts'

/** A server that goes down may end several connections of one who tries again; more is not bad luck any more. */
const mostRepeats = 3
/** Work that goes on behind the end of its connection has something else to wait for. */
const straggleMs = 250

/**
 * Whether what failed since its connection ended, or its server takes no writes any more, may have its `repeats`th repeat, as far as
 * time goes. A server that said nothing for too long has had all of it.
 */
export function mayRepeat(failure: unknown, repeats: number, sinceMs: number): boolean {
  const isEnd = failure instanceof ConnectionLost ? !failure.wasSilent : endsSession(failure)
  return isEnd && repeats <= mostRepeats && mayTryAgain(failure, sinceMs)
}

/**
 * Whether what was sent with its commit, and failed so, has certainly not been committed: it never left, or the server itself says
 * that it ended before it came to the end of it. One between may say the same of itself, and the server go on.
 */
export function isKnownUndone(failure: unknown, isDirect: boolean): boolean {
  if (failure instanceof ConnectionLost) return !failure.wasSent
  const state = sqlState(failure)
  if (state.startsWith('57P')) return isDirect && state === '57P01'
  return isOfServer(failure)
}

/** Whether a statement changes nothing for certain, as its words are. `select … for update` and functions that act are taken for writes. */
export function onlyReads({ text, isScript }: Pick<Statement, 'text' | 'isScript'>): boolean {
  return !isScript && /^\s*(?:select|with|values|table)\b/i.test(text) && !acts.test(text)
}

const acts =
  /\b(?:insert|update|delete|merge|truncate|into|nextval|setval|set_config|pg_notify|pg_terminate_backend|pg_cancel_backend|pg_\w*advisory\w*|lo_\w+)\b/i

/** What work that may have been left alone has come to. */
export type End<T> = { how: 'answered'; answer: T } | { how: 'failed' } | { how: 'goes on' }

/** The end of the work, if it comes within a moment: what is done again must not meet itself. */
export async function endOf<T>(work: Promise<T> | undefined): Promise<End<T>> {
  if (work === undefined) return { how: 'failed' }
  const { promise: late, resolve } = Promise.withResolvers<End<T>>()
  const timer = setTimeout(() => resolve({ how: 'goes on' }), straggleMs)
  const ended = work.then(
    (answer): End<T> => ({ how: 'answered', answer }),
    (): End<T> => ({ how: 'failed' }),
  )
  return Promise.race([ended, late]).finally(() => clearTimeout(timer))
}
