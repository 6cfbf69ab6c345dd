import type { Channel } from '../connection/connection.ts'

const currentMs = 90 * 86_400_000

interface Acknowledged {
  channel: Channel
  acknowledgedAt: Date | null
}

/** When the confirmation of the unofficial channel's risk ends; null when there is none or none is needed. */
export function acknowledgedUntil({ channel, acknowledgedAt }: Acknowledged): Date | null {
  if (channel !== 'unofficial' || acknowledgedAt === null) return null
  return new Date(acknowledgedAt.getTime() + currentMs)
}

/** Whether a send must wait for a member to confirm the risk of the unofficial channel. */
export function needsAcknowledgement(connection: Acknowledged, now: Date): boolean {
  if (connection.channel !== 'unofficial') return false
  const until = acknowledgedUntil(connection)
  return until === null || until <= now
}
