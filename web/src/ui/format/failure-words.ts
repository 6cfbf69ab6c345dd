import { Failure } from '../../api/failure.ts'
import { language, problemIn, t } from '../../text/index.ts'

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
  const help = error.status >= 500 ? failure.unexpected : refusalOf(error)
  return { title: failure.title, help, reference: error.status >= 500 ? error.requestId : null }
}

function refusalOf({ message, issues }: Failure): string {
  if (issues.size === 0) return problemFor(message)
  return [...new Set([...issues.values()].map(problemFor))].join(' ')
}

/** What the service says of a field, or of a whole request, in the reader's words. It speaks English alone. */
export function problemFor(message: string): string {
  // These words come a moment after the first page.
  const said = problemIn(message)
  if (said !== null) return said
  return language === 'en' ? `${message.charAt(0).toUpperCase()}${message.slice(1)}` : t.common.failure.refused
}

/** Why a connection cannot send, or what has changed of it. */
export function reasonWords(code: string): string {
  const { reasons, platformError, otherReason } = t.connections
  if (code.startsWith('account_violation')) return reasons.account_violation
  const [, template, category] = /^template_category (.+) (\S+)$/.exec(code) ?? []
  if (template !== undefined) return `${reasons.template_category}: ${template}, ${category}`
  if (code in reasons) return reasons[code as keyof typeof reasons]
  const number = /^platform_error_(.+)$/.exec(code)?.[1]
  return number === undefined ? otherReason({ code }) : platformError({ code: number })
}
