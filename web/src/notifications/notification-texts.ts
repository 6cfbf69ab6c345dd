import type { Notification } from '../data/notifications.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { reasonText } from '../ui/format/error-texts.ts'

/** Describes a notification in one sentence. */
export function notificationText({ kind, count, actor, connection, reason }: Notification): string {
  const { someone, sentences } = t.notifications
  if (kind === 'budget') return reason === 'reached' ? sentences.budgetReached : sentences.budget
  if (kind === 'task' || kind === 'scheduled' || kind === 'silence' || kind === 'broadcast') return sentences[kind]
  if (kind !== 'connection') return sentences[kind]({ actor: actor?.name ?? someone, count })
  const name = connection?.name ?? null
  if (name === null) return sentences.someConnection
  if (reason === null) return sentences.connectionLost({ connection: name })
  return sentences.connection({ connection: name, reason: reasonText(reason) })
}

/** Returns the customer of a notification, if any. */
export const customerLabel = ({ conversation }: Notification): string =>
  conversation === null ? '' : (conversation.name ?? conversation.phone ?? '')

/** Returns the path that a notification links to. */
export function notificationPath(workspaceId: string, { conversation, connection, kind }: Notification): string {
  // Others than admins see no costs.
  if (kind === 'budget') return `/w/${workspaceId}/${hasRole(workspaceId, 'admin') ? 'costs' : 'inbox'}`
  if (conversation !== null) return `/w/${workspaceId}/inbox/${conversation.id}`
  if (kind === 'task') return `/w/${workspaceId}/tasks`
  if (kind === 'broadcast') return `/w/${workspaceId}/broadcasts`
  if (connection !== null) return `/w/${workspaceId}/connections/${connection.id}`
  if (kind === 'goal') return `/w/${workspaceId}/inbox?overdue=true`
  return kind === 'waiting' ? `/w/${workspaceId}/inbox?sort=waiting` : `/w/${workspaceId}/inbox`
}
