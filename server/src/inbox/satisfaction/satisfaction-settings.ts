import type { Sql, Tx } from '../../base/db.ts'
import { InvalidInput, type Issue } from '../../base/errors.ts'
import { firstIdAt } from '../../base/id.ts'
import type { Channel } from '../../channels/connection/connection.ts'

/** Three faces as buttons, or one to five stars as a list. */
export const scales = [3, 5] as const
export type Scale = (typeof scales)[number]

export interface SatisfactionSettings {
  isEnabled: boolean
  question: string
  /** Text of the button that opens the list of stars. */
  buttonText: string
  scale: Scale
  /** After the closing, in minutes. */
  waitMinutes: number
  /** A customer is asked at most once in so many days. */
  everyDays: number
  /** Empty: all that can show buttons. */
  connectionIds: string[]
  /** For outside of the 24-hour window; null: then nobody is asked. It has one quick reply for each step of the scale. */
  template: { name: string; language: string } | null
}

/** A change may commit this long after its time; the shortest wait, so that no closing is missed. */
export const minWaitMinutes = 2

export const defaultSettings: SatisfactionSettings = {
  isEnabled: false,
  question: 'How satisfied are you with our help?',
  buttonText: 'Rate',
  scale: 5,
  waitMinutes: 10,
  everyDays: 30,
  connectionIds: [],
  template: null,
}

/** Linked phones show no buttons. */
export const channelsWithQuestions: readonly Channel[] = ['waba', 'partner', 'website']

export async function readSatisfactionSettings(sql: Sql, workspaceId: string): Promise<SatisfactionSettings> {
  const [row] = await sql<{ isEnabled: boolean; settings: Omit<SatisfactionSettings, 'isEnabled'> }[]>`
    select is_enabled as "isEnabled", settings
    from satisfaction_settings
    where workspace_id = ${workspaceId}`
  return row === undefined ? defaultSettings : { ...row.settings, isEnabled: row.isEnabled }
}

/**
 * Changes settings. Conversations that were closed before it was enabled are not asked about, and without it questions
 * that wait are cancelled. Throws 400 for connections of others, and those without buttons.
 */
export async function changeSatisfactionSettings(
  tx: Tx,
  workspaceId: string,
  patch: Partial<SatisfactionSettings>,
  now: Date,
): Promise<SatisfactionSettings> {
  const { isEnabled: _, ...defaults } = defaultSettings
  // Locks the row, which the job locks too.
  await tx`
    insert into satisfaction_settings (workspace_id, is_enabled, settings, position, updated_at)
    values (${workspaceId}, false, ${tx.json(defaults as never)}, ${firstIdAt(now)}, ${now})
    on conflict (workspace_id) do update set updated_at = excluded.updated_at`
  const before = await readSatisfactionSettings(tx, workspaceId)
  const { isEnabled, ...settings } = { ...before, ...patch }
  const issues = await checkConnections(tx, workspaceId, settings.connectionIds)
  if (issues.length > 0) throw new InvalidInput(issues)
  const isNew = isEnabled && !before.isEnabled
  await tx`
    update satisfaction_settings
    set is_enabled = ${isEnabled},
      settings = ${tx.json(settings as never)},
      position = case when ${isNew} then ${firstIdAt(now)}::uuid else position end
    where workspace_id = ${workspaceId}`
  if (!isEnabled) {
    await tx`
      update satisfaction_ratings
      set status = 'cancelled',
        reason = 'SWITCHED_OFF',
        next_at = null
      where workspace_id = ${workspaceId}
        and next_at is not null`
  }
  return { ...settings, isEnabled }
}

async function checkConnections(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<Issue[]> {
  if (ids.length === 0) return []
  const rows = await tx<{ id: string; channel: Channel }[]>`
    select id, channel
    from connections
    where workspace_id = ${workspaceId}
      and id = any (${[...ids]}::uuid[])`
  const channels = new Map(rows.map(({ id, channel }) => [id, channel]))
  return ids.flatMap((id, n) => {
    const channel = channels.get(id)
    const path = `connectionIds[${n}]`
    if (channel === undefined) return [{ path, message: 'must be a connection of the workspace' }]
    if (channelsWithQuestions.includes(channel)) return []
    return [{ path, message: 'must be a connection that can show buttons: linked phones cannot' }]
  })
}
