import type { Connection } from '../../data/connections.ts'
import type { Workspace } from '../../data/workspace.ts'

/** Why nothing can be sent in a conversation. */
export type Obstacle =
  | 'not_in_plan'
  | 'inbox_closed'
  | 'removed'
  | 'paused'
  | 'unlinked'
  | 'reconnecting'
  | 'unavailable'
  | 'unacknowledged'

/** Relevant state of a connection. */
type ConnectionStatus = Pick<Connection, 'channel' | 'state' | 'stateReason' | 'acknowledgement'> & {
  holds: readonly Pick<Connection['holds'][number], 'stops' | 'nextTryAt'>[]
}

const unlinked: readonly (string | null)[] = ['never_paired', 'pairing', 'logged_out']

/** Returns the obstacle with the widest scope; null if none is known. A removed connection is undefined. */
export function obstacleOf(
  workspace: Pick<Workspace, 'inboxEnabled' | 'inboxAvailable'>,
  connection: ConnectionStatus | undefined,
  nowMs: number,
): Obstacle | null {
  if (!workspace.inboxEnabled) return 'not_in_plan'
  if (!workspace.inboxAvailable) return 'inbox_closed'
  if (connection === undefined) return 'removed'
  const { channel, state, stateReason, acknowledgement, holds } = connection
  if (state === 'paused') return 'paused'
  if (state === 'unavailable') {
    if (stateReason === 'reconnecting') return 'reconnecting'
    if (unlinked.includes(stateReason)) return 'unlinked'
    // After the pause, one send may test whether the platform accepts messages again.
    const mayTry = holds.some(
      ({ stops, nextTryAt }) => stops === 'all' && nextTryAt !== null && Date.parse(nextTryAt) <= nowMs,
    )
    if (!mayTry) return 'unavailable'
  }
  const isConfirmed = acknowledgement !== null && Date.parse(acknowledgement.until) > nowMs
  return channel === 'unofficial' && !isConfirmed ? 'unacknowledged' : null
}
