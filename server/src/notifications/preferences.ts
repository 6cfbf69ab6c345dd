import type { Sql, Tx } from '../base/db.ts'
import { forbidden, type Issue } from '../base/errors.ts'
import { createZoneFormat, isTimeZone, localDateAt, localTimeAt, offsetAt } from '../base/time.ts'
import { weekdays } from '../team/opening-hours.ts'
import {
  defaultPreferences,
  type NotificationPreferences,
  type NotificationTone,
  type StoredPreferences,
  withDefaults,
} from './notification-kinds.ts'
import type { NotificationSettingsBody } from './schema.ts'

/** The preferences of a person, complete. */
export type NotificationSettings = Required<NotificationSettingsBody> & { ways: NotificationPreferences }

/** When a person gets the daily digest. */
export type DigestTime = NonNullable<NotificationSettingsBody['digest']>

export const defaultSettings: NotificationSettings = {
  ways: defaultPreferences,
  quiet: null,
  pushNames: false,
  tone: 'chime',
  digest: null,
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
  const rows = await sql<StoredSettings[]>`
    select user_id as "userId", ways, quiet, push_names as "pushNames", tone, digest
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

interface StoredSettings extends Omit<NotificationSettings, 'tone' | 'ways'> {
  userId: string
  ways: StoredPreferences
  tone: NotificationTone | null
}

/** Stores preferences; keeps the tone and digest that are omitted. Throws 403 unless the person is a member. */
export async function storeSettings(
  tx: Tx,
  workspaceId: string,
  userId: string,
  { ways, quiet, pushNames, tone, digest }: NotificationSettingsBody,
  now: Date,
): Promise<void> {
  const digestAt = digest == null ? null : nextDigestAt(digest, now)
  const stored = await tx`
    insert into notice_settings (workspace_id, user_id, ways, quiet, push_names, tone, digest, digest_at)
    select m.workspace_id, m.user_id, ${tx.json(ways)},
      ${quiet === null ? null : tx.json(quiet)}, ${pushNames}, ${tone ?? null},
      ${digest == null ? null : tx.json(digest)}::jsonb, ${digestAt}::timestamptz
    from members m
    where m.workspace_id = ${workspaceId}
      and m.user_id = ${userId}
    on conflict (workspace_id, user_id)
    do update set ways = excluded.ways, quiet = excluded.quiet, push_names = excluded.push_names,
      tone = coalesce(excluded.tone, notice_settings.tone)
      ${digest === undefined ? tx`` : newDigest(tx)}`
  if (stored.count === 0) throw notMemberError()
}

// A save that leaves the digest as it is must not skip one that is due.
const newDigest = (tx: Tx) => tx`,
      digest = excluded.digest,
      digest_at = case
        when notice_settings.digest is not distinct from excluded.digest then notice_settings.digest_at
        else excluded.digest_at
      end`

export const notMemberError = () => forbidden('Only members of the workspace get notifications. Ask for an invitation.')

/** Times without sound, pop-up, push and mail. Notifications are still recorded. */
export type QuietHours = NonNullable<NotificationSettingsBody['quiet']>

/** Returns whether it is quiet now. The end of the span is exclusive. */
export function isQuiet(quiet: QuietHours, now: Date): boolean {
  const { timeZone, from, to } = quiet
  if (isQuietDay(quiet, now)) return true
  const time = localTimeAt(createZoneFormat(timeZone), now.getTime()).slice(11, 16)
  return from < to ? from <= time && time < to : time >= from || time < to
}

/** Returns whether the whole day is quiet. */
export function isQuietDay({ timeZone, days }: Pick<QuietHours, 'timeZone' | 'days'>, now: Date): boolean {
  const date = localDateAt(createZoneFormat(timeZone), now.getTime())
  // Our weeks start with Monday, JavaScript's with Sunday.
  const today = weekdays[(new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7]
  return today !== undefined && days.includes(today)
}

const dayMs = 86_400_000

/** Returns when the time of the digest comes next. A time that a clock change skips comes an hour earlier. */
export function nextDigestAt({ timeZone, time }: DigestTime, now: Date): Date {
  const format = createZoneFormat(timeZone)
  const today = Date.parse(localDateAt(format, now.getTime()))
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  for (let days = 0; ; days++) {
    const local = today + days * dayMs + (hours * 60 + minutes) * 60_000
    // By the offset of the day before, then by the one that applies: of a time that comes twice, the first.
    const at = local - offsetAt(format, local - offsetAt(format, local - dayMs))
    if (at > now.getTime()) return new Date(at)
  }
}

/** Validates what the schema cannot: time zones, and that the span of quiet hours is not empty. */
export function checkSettings({ quiet, digest }: NotificationSettingsBody): Issue[] {
  const zoneIssues = Object.entries({ quiet, digest }).flatMap(([name, times]) =>
    times == null || isTimeZone(times.timeZone)
      ? []
      : [{ path: `${name}.timeZone`, message: 'must be an IANA time zone' }],
  )
  if (quiet === null || quiet.from !== quiet.to) return zoneIssues
  return [...zoneIssues, { path: 'quiet.to', message: `must not be the same as from, ${quiet.from}` }]
}
