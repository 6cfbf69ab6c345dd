import { ApiError } from '../../api/api-error.ts'
import { language, t, translateProblem } from '../../text/index.ts'

/** Describes an error in one line. */
export function errorSentence(error: unknown): string {
  const { title, help } = errorText(error)
  return title === t.common.failure.title ? help : title
}

export function errorText(error: unknown): { title: string; help: string; reference: string | null } {
  const { failure } = t.common
  if (!(error instanceof ApiError)) return { title: failure.title, help: failure.unexpected, reference: null }
  if (error.isOffline) return { title: failure.title, help: failure.offline, reference: null }
  if (error.status === 403) return { title: failure.denied, help: failure.deniedHelp, reference: null }
  if (error.status === 404) return { title: failure.notFound, help: '', reference: null }
  const help = error.status >= 500 ? failure.unexpected : apiErrorOf(error)
  return { title: failure.title, help, reference: error.status >= 500 ? error.requestId : null }
}

function apiErrorOf({ message, issues }: ApiError): string {
  if (issues.size === 0) return problemText(message)
  return [...new Set([...issues.values()].map(problemText))].join(' ')
}

/** Translates an error of the server about a field or request. */
export function problemText(message: string): string {
  // These texts load shortly after the first page.
  const text = translateProblem(message)
  if (text !== null) return text
  return language === 'en' ? `${message.charAt(0).toUpperCase()}${message.slice(1)}` : t.common.failure.refused
}

/** Explains why a connection cannot send, or what has changed. */
export function reasonText(code: string): string {
  const { reasons, platformError, otherReason } = t.connections
  if (code.startsWith('account_violation')) return reasons.account_violation
  const [, template, category] = /^template_category (.+) (\S+)$/.exec(code) ?? []
  if (template !== undefined) return `${reasons.template_category}: ${template}, ${category}`
  if (code in reasons) return reasons[code as keyof typeof reasons]
  const number = /^platform_error_(.+)$/.exec(code)?.[1]
  return number === undefined ? otherReason({ code }) : platformError({ code: number })
}
