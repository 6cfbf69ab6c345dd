import { Type } from 'typebox'
import type { Sql } from '../../base/db.ts'
import { oneOf, timestamp, titled } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import { type Channel, type ConnectionState, channels } from '../../channels/connection/connection.ts'
import type { Scope } from '../../inbox/conversation/conversation.ts'
import { type OpeningHours, openingAt, type Weekday, zoneTime } from '../../team/opening-hours.ts'
import { idSchema } from '../../team/team-schema.ts'

const times = Type.Array(
  Type.Object({
    from: text(5, 'Opening time.', { example: '09:00' }),
    to: text(5, 'Closing time; 24:00 is midnight.', { example: '18:00' }),
  }),
  { maxItems: 4 },
)

export const AgentHours = Type.Object(
  {
    time_zone: text(64, 'Time zone of these hours.', { example: 'America/Sao_Paulo' }),
    week: Type.Object({
      monday: times,
      tuesday: times,
      wednesday: times,
      thursday: times,
      friday: times,
      saturday: times,
      sunday: times,
    } satisfies Record<Weekday, typeof times>),
    is_open: Type.Boolean({ description: 'Whether people are available now.' }),
    next_change_at: Type.Union([timestamp('Next opening or closing.'), Type.Null()], {
      description: 'Null: none within a week.',
    }),
  },
  {
    title: 'Hours',
    description: 'Business hours of the team. You answer at any hour: tell customers when a person is available.',
  },
)

export function presentHours(hours: OpeningHours, now: Date) {
  const { isOpen, nextChangeAt } = openingAt(hours, now)
  const { timeZone, week } = hours
  return { time_zone: timeZone, week, is_open: isOpen, next_change_at: nextChangeAt?.toISOString() ?? null }
}

/** Returns null if the workspace has no business hours. */
export const arePeopleAvailable = (hours: OpeningHours | null, now: Date): boolean | null =>
  hours === null ? null : openingAt(hours, now).isOpen

/** Returns when people are back; empty while they are available. */
export function availabilityNote(hours: OpeningHours | null, now: Date): string[] {
  if (hours === null) return []
  const { isOpen, nextChangeAt } = openingAt(hours, now)
  if (isOpen || nextChangeAt === null) return []
  return [`No person is available until ${zoneTime(hours, nextChangeAt)} (${hours.timeZone}).`]
}

export const Connection = titled('AgentConnection', {
  id: idSchema('The chat connection.'),
  name: text(100, 'Its name in the team.', { example: 'Shop' }),
  channel: oneOf(channels, {
    description: '`waba`: official cloud API. `unofficial`: a linked phone. `partner`: a connected partner number.',
  }),
  state: oneOf(['active', 'paused', 'unavailable'] as const, { description: 'Only `active` ones can send.' }),
})

interface ConnectionRow {
  id: string
  name: string
  channel: Channel
  state: ConnectionState
}

/** Returns the connections that the key sees, oldest first, at most 100. */
export function selectConnections(sql: Sql, { workspaceId, connectionIds }: Scope): Promise<ConnectionRow[]> {
  return sql<ConnectionRow[]>`
    select c.id, c.name, c.channel, c.state
    from connections c
    where c.workspace_id = ${workspaceId}
      and c.removed_at is null
      ${connectionIds.length === 0 ? sql`` : sql`and c.id = any (${[...connectionIds]}::uuid[])`}
    order by c.id
    limit 100`
}
