import type { FastifyReply } from 'fastify'
import { ApiError, InvalidInput } from '../../base/errors.ts'
import { sendPage } from './pages/layout.ts'
import type { Words } from './pages/words.ts'

/** Shows the form again with the reason above it. */
export function showProblem(
  reply: FastifyReply,
  words: Words,
  error: unknown,
  formWith: (problem: string) => Parameters<typeof sendPage>[1],
): FastifyReply {
  if (!(error instanceof ApiError) || error.statusCode >= 500) throw error
  const wait = error.headers['retry-after']
  if (wait !== undefined) reply.header('retry-after', wait)
  return sendPage(reply, formWith(words.problems[error.message] ?? error.message), error.statusCode)
}

/** What is wrong with the fields, in sentences; null for any other failure. */
export function sentencesOf(error: unknown, { problems }: Words): string | null {
  if (!(error instanceof InvalidInput)) return null
  const sentences = error.issues.map(({ path, message }) => `${path} ${message}.`)
  return sentences.map((sentence) => problems[sentence] ?? sentence).join(' ')
}
