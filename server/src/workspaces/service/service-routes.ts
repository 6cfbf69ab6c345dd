import { Type } from 'typebox'
import type { Sql } from '../../base/db.ts'
import { InvalidInput } from '../../base/errors.ts'
import { type App, nullable, titled } from '../../base/route.ts'
import { count } from '../../base/schema-types.ts'
import { recordAudit, workspaceEntry } from '../../team/audit.ts'
import { publishWorkspace } from '../../team/live-updates.ts'
import type { Member, TeamGuard } from '../../team/member.ts'
import { validateHolidays, validateHours } from '../../team/opening-hours.ts'
import { teamApi } from '../../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../../team/team-schema.ts'
import { updateWorkspace, type WorkspaceDeps } from '../change.ts'
import { findTeams, maxTeams, teamNotFound } from '../teams/teams.ts'
import { maxCalendarLength, parseCalendar } from './parse-calendar.ts'
import {
  awayMessageSchema,
  calendarName,
  holidaysSchema,
  hoursSchema,
  maxHolidays,
  serviceGoalsSchema,
  teamHolidaysSchema,
} from './service-schema.ts'
import { readTeamServices, requestGoalUpdate, type TeamService } from './service-settings.ts'

const teamService = {
  hours: hoursSchema('Business hours of this team. Null: those of the workspace.'),
  holidays: nullable(teamHolidaysSchema),
  awayMessage: awayMessageSchema,
  serviceGoals: serviceGoalsSchema,
}
const teamServiceSchema = titled('TeamService', { teamId: idSchema('The team.'), ...teamService })

const path = '/api/team/v1/workspaces/:workspaceId'
const teamParams = Type.Object({ ...workspaceParams, teamId: idSchema('The team.') })

/** Routes for people: holidays from a calendar, and what differs for teams. The rest are settings of the workspace. */
export function serviceTeamRoutes(app: App, deps: WorkspaceDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Service levels')
  api.get(`${path}/team-services`, 'member', {
    operationId: 'listTeamServices',
    summary: 'List hours and goals of teams',
    description:
      'Teams with hours, holidays, an away message or goals of their own. What is null, and every other team, is as in the workspace.',
    answers: { 200: Type.Object({ teams: Type.Array(teamServiceSchema, { maxItems: maxTeams }) }) },
    allErrors: [400, 401, 404],
    run: async ({ member }) => ({ teams: [...(await readTeamServices(deps.db.sql, member.workspaceId))] }),
  })
  api.put(`${path}/teams/:teamId/service`, 'admin', {
    operationId: 'setTeamService',
    summary: 'Set hours and goals of a team',
    description: 'For admins. Replaces all of it; null means as in the workspace.',
    params: teamParams,
    body: Type.Object(teamService, {
      ...closed,
      example: {
        ...{ hours: null, holidays: null, awayMessage: null },
        serviceGoals: { firstAnswer: 15, nextAnswer: 30, resolution: null, priorities: {} },
      },
    }),
    answers: { 200: Type.Object({ team: teamServiceSchema }) },
    run: async ({ member, params, body }) => {
      const teamId = params.teamId.toLowerCase()
      await setTeamService(deps, member, teamId, body)
      return { team: { teamId, ...body } }
    },
  })
  api.post(`${path}/holidays/import`, 'admin', {
    operationId: 'importHolidays',
    summary: 'Import holidays from a calendar',
    description:
      'For admins. Adds the all-day events of an iCalendar file from today on, for two years; events that repeat each year occur in both. Replaces the holidays of an earlier import with the same `calendar`. If the file cannot be read, nothing changes.',
    body: Type.Object(
      {
        calendar: calendarName,
        text: Type.String({
          minLength: 1,
          maxLength: maxCalendarLength,
          description: 'Content of the file: at most 256 KiB.',
          example:
            'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Christmas\r\nDTSTART;VALUE=DATE:20261225\r\nRRULE:FREQ=YEARLY\r\nEND:VEVENT\r\nEND:VCALENDAR',
        }),
      },
      closed,
    ),
    answers: {
      200: Type.Object({
        holidays: holidaysSchema,
        imported: count('Number of holidays from the file.', { example: 12 }),
        ignored: count('Events that are not days of the next two years, or repeat otherwise than yearly.', {
          example: 0,
        }),
      }),
    },
    run: ({ member, body }) => importHolidays(deps, member, body),
  })
}

async function setTeamService(deps: WorkspaceDeps, by: Member, teamId: string, service: TeamService): Promise<void> {
  const { hours, holidays, awayMessage, serviceGoals } = service
  const issues = [...(hours === null ? [] : validateHours(hours)), ...validateHolidays(holidays ?? [])]
  if (issues.length > 0) throw new InvalidInput(issues)
  const { workspaceId } = by
  const now = deps.clock.now()
  await deps.db.tx(async (tx) => {
    if ((await findTeams(tx, workspaceId, [teamId])).size === 0) throw teamNotFound()
    await tx`
      insert into team_service_settings (
        workspace_id, team_id, hours, holidays, away_message, service_goals, updated_at
      )
      values (
        ${workspaceId}, ${teamId}, ${jsonOrNull(tx, hours)}, ${jsonOrNull(tx, holidays)},
        ${jsonOrNull(tx, awayMessage)}, ${jsonOrNull(tx, serviceGoals)}, ${now}
      )
      on conflict (workspace_id, team_id) do update
      set hours = excluded.hours,
        holidays = excluded.holidays,
        away_message = excluded.away_message,
        service_goals = excluded.service_goals,
        updated_at = excluded.updated_at`
    await requestGoalUpdate(tx, workspaceId, now)
    publishWorkspace(tx, workspaceId)
    await recordAudit(tx, workspaceEntry(by, 'team.service_changed', `team:${teamId}`), now)
  })
}

const jsonOrNull = (sql: Sql, value: object | null) => (value === null ? null : sql.json(value))

async function importHolidays(deps: WorkspaceDeps, by: Member, { calendar, text }: { calendar: string; text: string }) {
  const name = calendar.trim()
  const { holidays: found, ignored } = parseCalendar(text, deps.clock.now())
  const { holidays } = await updateWorkspace(deps, by, (before) => {
    const kept = before.holidays.filter((one) => one.calendar !== name)
    const all = [...kept, ...found.map((one) => ({ ...one, calendar: name }))]
    if (all.length > maxHolidays) {
      const message = `has ${found.length} days in the next two years, but a workspace has at most ${maxHolidays} holidays, and ${kept.length} others`
      throw new InvalidInput([{ path: 'text', message }])
    }
    return { holidays: all.sort((a, b) => (a.from < b.from ? -1 : 1)) }
  })
  return { holidays, imported: found.length, ignored }
}
