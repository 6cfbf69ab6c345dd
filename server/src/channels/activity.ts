import type { Tx } from '../base/db.ts'

const everyMs = 60_000

/** Notes when a connection last heard from the platform (`in`) or sent (`out`), at most once a minute. */
export async function noteActivity(
  tx: Tx,
  workspaceId: string,
  connectionId: string,
  direction: 'in' | 'out',
  now: Date,
): Promise<void> {
  const column = tx(direction === 'in' ? 'last_event_in_at' : 'last_event_out_at')
  await tx`
    update connections
    set ${column} = ${now}
    where workspace_id = ${workspaceId}
      and id = ${connectionId}
      and (${column} is null or ${column} <= ${new Date(now.getTime() - everyMs)})`
}

/** Whether `noteActivity` would write, for those who know the last time. */
export function isWorthNoting(last: Date | null, now: Date): boolean {
  return last === null || now.getTime() - last.getTime() >= everyMs
}
