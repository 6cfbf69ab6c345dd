import { Failure } from '../../api/failure.ts'
import { t } from '../../text/index.ts'

/** The failure in the reader's words, for a line beside what failed. */
export function sentenceFor(error: unknown): string {
  const { title, help } = wordsFor(error)
  return title === t.common.failure.title ? help : title
}

export function wordsFor(error: unknown): { title: string; help: string; reference: string | null } {
  const { failure } = t.common
  if (!(error instanceof Failure)) return { title: failure.title, help: failure.unexpected, reference: null }
  if (error.isOffline) return { title: failure.title, help: failure.offline, reference: null }
  if (error.status === 403) return { title: failure.denied, help: failure.deniedHelp, reference: null }
  if (error.status === 404) return { title: failure.notFound, help: '', reference: null }
  const help = error.status >= 500 ? failure.unexpected : [error.message, ...error.issues.values()].join('. ')
  return { title: failure.title, help, reference: error.status >= 500 ? error.requestId : null }
}
