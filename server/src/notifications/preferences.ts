import type { Sql, Tx } from '../base/db.ts'
import { forbidden, type Issue } from '../base/errors.ts'
import { createZoneFormat, isTimeZone, localTimeAt } from '../base/time.ts'
import { type Weekday, weekdays } from '../team/opening-hours.ts'
import {
  defaultPreferences,
  type NotificationPreferences,
  type NotificationTone,
  withDefaults,
} from './notification-kinds.ts'
import type { NotificationSettingsBody } from './schema.ts'

export interface NotificationSettings {
  ways: NotificationPreferences
  quiet: QuietHours | null
  /** Whether a push may contain the customer's name. */
  pushNames: boolean
  tone: NotificationTone
}

export const defaultSettings: NotificationSettings = {
  ways: defaultPreferences,
  quiet: null,
  pushNames: false,
  tone: 'chime',
}

export async function readSettings(sql: Sql, workspaceId: string, userId: string): Promise<NotificationSettings> {
  const all = await readSettingsOf(sql, workspaceId, [userId])
  return all.get(userId) ?? defaultSettings
}

export async function readSettingsOf(
  sql: Sql,
  workspaceId: string,
  userIds: readonly string[],
): Promise<Map<string, NotificationSettings>> {
  const rows = await sql<(Omit<NotificationSettings, 'tone'> & { userId: string; tone: NotificationTone | null })[]>`
    select user_id as "userId", ways, quiet, push_names as "pushNames", tone
    from notice_settings
    where workspace_id = ${workspaceId}
      and user_id = any (${[...userIds]}::uuid[])`
  return new Map(
    rows.map(({ userId, ways, tone, ...rest }) => [
      userId,
      { ...rest, ways: withDefaults(ways), tone: tone ?? defaultSettings.tone },
    ]),
  )
}

/** Stores preferences; keeps the current tone if none is given. Throws 403 unless the person is a member. */
export async function storeSettings(
  tx: Tx,
  workspaceId: string,
  userId: string,
  { ways, quiet, pushNames, tone }: NotificationSettingsBody,
): Promise<void> {
  const stored = await tx`
    insert into notice_settings (workspace_id, user_id, ways, quiet, push_names, tone)
    select m.workspace_id, m.user_id, ${tx.json(ways)},
      ${quiet === null ? null : tx.json(quiet)}, ${pushNames}, ${tone ?? null}
    from members m
    where m.workspace_id = ${workspaceId}
      and m.user_id = ${userId}
    on conflict (workspace_id, user_id)
    do update set ways = excluded.ways, quiet = excluded.quiet, push_names = excluded.push_names,
      tone = coalesce(excluded.tone, notice_settings.tone)`
  if (stored.count === 0) throw notMemberError()
}

export const notMemberError = () => forbidden('Only members of the workspace get notifications. Ask for an invitation.')

/** Times without sound, pop-up and push. Notifications are still recorded. */
export interface QuietHours {
  timeZone: string
  /** `22:00`; a `to` of `07:00` is then on the next day. */
  from: string
  to: string
  /** Days that are quiet from midnight to midnight. */
  days: Weekday[]
}

/** Returns whether it is quiet now. The end of the span is exclusive. */
export function isQuiet({ timeZone, from, to, days }: QuietHours, now: Date): boolean {
  const localTime = localTimeAt(createZoneFormat(timeZone), now.getTime())
  // Our weeks start with Monday, JavaScript's with Sunday.
  const today = weekdays[(new Date(`${localTime.slice(0, 10)}T00:00:00Z`).getUTCDay() + 6) % 7]
  if (today !== undefined && days.includes(today)) return true
  const time = localTime.slice(11, 16)
  return from < to ? from <= time && time < to : time >= from || time < to
}

/** Validates what the schema cannot: the time zone, and that the span is not empty. */
export function checkQuietHours({ timeZone, from, to }: QuietHours): Issue[] {
  const zoneIssues = isTimeZone(timeZone) ? [] : [{ path: 'quiet.timeZone', message: 'must be an IANA time zone' }]
  const spanIssues = from === to ? [{ path: 'quiet.to', message: `must not be the same as from, ${from}` }] : []
  return [...zoneIssues, ...spanIssues]
}
