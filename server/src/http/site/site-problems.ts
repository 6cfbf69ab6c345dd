import type { FastifyReply } from 'fastify'
import { ApiError, InvalidInput } from '../../base/errors.ts'
import { type Problem, sendPage } from './pages/layout.ts'
import type { Words } from './pages/words.ts'

/** Fields of a form that have to be filled in otherwise, each with a sentence in the reader's language. */
class WrongFields extends ApiError {
  readonly fields: Readonly<Record<string, string>>

  constructor(fields: Readonly<Record<string, string>>) {
    super(400, 'Some fields are wrong')
    this.fields = fields
  }
}

/** Throws what `showProblem` shows beside the fields, unless all of them are right: null. */
export function checkFields(problems: Readonly<Record<string, string | null>>): void {
  const wrong = Object.entries(problems).filter((one): one is [string, string] => one[1] !== null)
  if (wrong.length > 0) throw new WrongFields(Object.fromEntries(wrong))
}

/** Shows the form again with the reason above it, or beside the fields that are wrong. */
export function showProblem(
  reply: FastifyReply,
  words: Words,
  error: unknown,
  formWith: (problem: Problem) => Parameters<typeof sendPage>[1],
): FastifyReply {
  if (!(error instanceof ApiError) || error.statusCode >= 500) throw error
  const wait = error.headers['retry-after']
  if (wait !== undefined) reply.header('retry-after', wait)
  const line = sentencesOf(error, words) ?? words.problems[error.message] ?? error.message
  return sendPage(reply, formWith(error instanceof WrongFields ? { fields: error.fields } : { line }), error.statusCode)
}

/** What is wrong with the fields, in sentences; null for any other failure. */
function sentencesOf(error: unknown, { problems }: Words): string | null {
  if (!(error instanceof InvalidInput)) return null
  const sentences = error.issues.map(({ path, message }) => `${path} ${message}.`)
  return sentences.map((sentence) => problems[sentence] ?? sentence).join(' ')
}
