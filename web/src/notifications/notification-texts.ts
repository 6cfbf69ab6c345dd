import type { Notification } from '../data/notifications.ts'
import { t } from '../text/index.ts'
import { reasonText } from '../ui/format/error-texts.ts'

/** Who did what, as one sentence. */
export function notificationText({ kind, count, actor, connection, reason }: Notification): string {
  const { somebody, sentences } = t.told
  if (kind !== 'connection') return sentences[kind]({ actor: actor?.name ?? somebody, count })
  const name = connection?.name ?? null
  if (name === null) return sentences.someConnection
  if (reason === null) return sentences.connectionLost({ connection: name })
  return sentences.connection({ connection: name, reason: reasonText(reason) })
}

/** The customer that it is about, if it is about one. */
export const customerLabel = ({ conversation }: Notification): string =>
  conversation === null ? '' : (conversation.name ?? conversation.phone ?? '')

/** Where it is looked at. */
export function notificationPath(workspaceId: string, { conversation, connection, kind }: Notification): string {
  if (conversation !== null) return `/w/${workspaceId}/inbox/${conversation.id}`
  if (connection !== null) return `/w/${workspaceId}/connections/${connection.id}`
  return kind === 'waiting' ? `/w/${workspaceId}/inbox?sort=waiting` : `/w/${workspaceId}/inbox`
}
