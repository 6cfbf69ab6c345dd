import type { Static } from 'typebox'
import { singleFlightByKey } from '../../base/async/batch.ts'
import type { Db, Sql, Tx } from '../../base/db.ts'
import { liveUpdatesTopic, workspaceUpdates } from '../../team/live-updates.ts'
import { type Holiday, hoursWithHolidays, type OpeningHours } from '../../team/opening-hours.ts'
import type { awayMessageSchema, serviceGoalsSchema } from './service-schema.ts'

/** From the lowest to the highest. The database stores the place, from 1. */
export const priorities = ['low', 'normal', 'high', 'urgent'] as const
export type Priority = (typeof priorities)[number]

/** What customers get who write outside of business hours. */
export type AwayMessage = NonNullable<Static<typeof awayMessageSchema>>
export type AwayLanguage = keyof AwayMessage['texts']
export type ServiceGoals = NonNullable<Static<typeof serviceGoalsSchema>>
/** Minutes of business hours; null: no such goal. */
export type GoalMinutes = Omit<ServiceGoals, 'priorities'>

/** Hours, away message and goals that apply to a conversation. */
export interface Service {
  /** Null: always open. */
  hours: OpeningHours | null
  away: AwayMessage | null
  goals: ServiceGoals | null
}

export interface ServiceSettings extends Service {
  /** For the language of away messages. */
  country: string | null
  teams: ReadonlyMap<string, Service>
  hasAway: boolean
  hasGoals: boolean
}

/** What a team has of its own; null: as in the workspace. */
export interface TeamService {
  hours: Pick<OpeningHours, 'timeZone' | 'week'> | null
  holidays: Holiday[] | null
  awayMessage: AwayMessage | null
  serviceGoals: ServiceGoals | null
}

/** Returns what applies to conversations of a team; null for none. */
export const serviceOf = (settings: ServiceSettings, teamId: string | null): Service =>
  (teamId === null ? undefined : settings.teams.get(teamId)) ?? settings

export const noService: ServiceSettings = {
  ...{ hours: null, away: null, goals: null, country: null },
  ...{ teams: new Map(), hasAway: false, hasGoals: false },
}

/** Returns the settings of the teams that have any of their own. */
export const readTeamServices = (
  sql: Sql,
  workspaceId: string,
): Promise<readonly (TeamService & { teamId: string })[]> => sql<(TeamService & { teamId: string })[]>`
  select team_id as "teamId", hours, holidays, away_message as "awayMessage", service_goals as "serviceGoals"
  from team_service_settings
  where workspace_id = ${workspaceId}
  order by team_id`

export async function readServiceSettings(sql: Sql, workspaceId: string): Promise<ServiceSettings> {
  const [[workspace], teams] = await Promise.all([
    sql<(Service & { country: string | null; holidays: Holiday[] })[]>`
      select ${hoursWithHolidays(sql)} as hours, w.holidays, w.away_message as away, w.service_goals as goals,
        w.default_country as country
      from workspaces w
      where w.id = ${workspaceId}`,
    readTeamServices(sql, workspaceId),
  ])
  if (workspace === undefined) return noService
  const { hours, away, goals, country, holidays } = workspace
  const ofTeams = teams.map((team): [string, Service] => {
    const own = team.hours ?? hours
    const closed = team.holidays ?? holidays
    return [
      team.teamId,
      {
        hours: own === null ? null : { ...own, holidays: closed },
        away: team.awayMessage ?? away,
        goals: team.serviceGoals ?? goals,
      },
    ]
  })
  const all = [workspace, ...ofTeams.map(([, service]) => service)]
  return {
    ...{ hours, away, goals, country, teams: new Map(ofTeams) },
    hasAway: all.some((one) => one.away !== null),
    hasGoals: all.some((one) => one.goals !== null),
  }
}

// A live update removes changed settings; this limit covers updates that are lost.
const ttlMs = 60_000
const maxWorkspaces = 5_000

/** Returns the settings of a workspace, from memory: once a minute and workspace it reads them. */
export type ReadService = (workspaceId: string) => Promise<ServiceSettings>

// Per database, because several parts of a process need them.
const readers = new WeakMap<Db, ReadService>()

export function serviceReader(db: Db): ReadService {
  const reader = readers.get(db) ?? createReader(db)
  readers.set(db, reader)
  return reader
}

function createReader(db: Db): ReadService {
  const entries = new Map<string, { settings: ServiceSettings; readAtMs: number }>()
  let generation = 0
  db.subscribe(liveUpdatesTopic, (id) => {
    if (!workspaceUpdates(id)) return
    generation++
    entries.delete(id.slice(0, id.indexOf(' ')))
  })
  db.onReconnect(() => {
    generation++
    entries.clear()
  })
  const load = singleFlightByKey(async (workspaceId: string): Promise<ServiceSettings> => {
    const [startGeneration, readAtMs] = [generation, performance.now()]
    const settings = await readServiceSettings(db.sql, workspaceId)
    // Settings that were read before a change may be old: they are used once.
    if (startGeneration !== generation) return settings
    const [oldest] = entries.keys()
    if (entries.size >= maxWorkspaces && oldest !== undefined) entries.delete(oldest)
    entries.set(workspaceId, { settings, readAtMs })
    return settings
  })
  return async (workspaceId) => {
    const entry = entries.get(workspaceId)
    return entry !== undefined && performance.now() - entry.readAtMs < ttlMs ? entry.settings : load(workspaceId)
  }
}

/** Makes a scheduled job compute the clocks of all goals again. Call it in the transaction that changes the settings. */
export async function requestGoalUpdate(tx: Tx, workspaceId: string, now: Date): Promise<void> {
  await tx`
    insert into goal_updates (workspace_id, after_id, requested_at)
    values (${workspaceId}, '00000000-0000-0000-0000-000000000000', ${now})
    on conflict (workspace_id) do update
    set after_id = excluded.after_id,
      requested_at = excluded.requested_at`
}
