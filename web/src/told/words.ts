import type { Notice } from '../data/notices.ts'
import { t } from '../text/index.ts'
import { reasonWords } from '../ui/format/failure-words.ts'

/** Who did what, as one sentence. */
export function sentenceOf({ kind, count, actor, connection, reason }: Notice): string {
  const { somebody, sentences } = t.told
  if (kind !== 'connection') return sentences[kind]({ actor: actor?.name ?? somebody, count })
  const name = connection?.name ?? null
  if (name === null) return sentences.someConnection
  if (reason === null) return sentences.connectionLost({ connection: name })
  return sentences.connection({ connection: name, reason: reasonWords(reason) })
}

/** The customer that it is about, if it is about one. */
export const customerOf = ({ conversation }: Notice): string =>
  conversation === null ? '' : (conversation.name ?? conversation.phone ?? '')

/** Where it is looked at. */
export function placeOf(workspaceId: string, { conversation, connection, kind }: Notice): string {
  if (conversation !== null) return `/w/${workspaceId}/inbox/${conversation.id}`
  if (connection !== null) return `/w/${workspaceId}/connections/${connection.id}`
  return kind === 'waiting' ? `/w/${workspaceId}/inbox?sort=waiting` : `/w/${workspaceId}/inbox`
}
