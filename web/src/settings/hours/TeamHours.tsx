import { Switch } from '@mantine/core'
import type { TeamServiceFields } from '../../data/team/services.ts'
import { t } from '../../text/index.ts'
import { DraftSection } from '../draft/DraftSection.tsx'
import { TeamChoice, useTeamServiceDraft } from '../goals/TeamChoice.tsx'
import { AwayFields, filledAway, isAwayFilled } from './AwayFields.tsx'
import { AddHoliday, HolidayList, withHoliday } from './HolidayFields.tsx'
import { WeekFields } from './WeekFields.tsx'
import { defaultHours, isComplete, sortedWeek, zoneHere } from './week-hours.ts'

/** Hours, holidays and away messages of teams that have their own. */
export const TeamHours = () => (
  <TeamChoice title={t.settings.hours.ofTeams} help={t.settings.hours.ofTeamsHelp}>
    {(teamId, service) => <TeamHoursForm teamId={teamId} service={service} />}
  </TeamChoice>
)

function TeamHoursForm({ teamId, service }: { teamId: string; service: TeamServiceFields }) {
  const texts = t.settings.hours
  const draft = useTeamServiceDraft(teamId, service, ({ hours, awayMessage, ...rest }) => ({
    ...rest,
    hours: hours === null ? null : { ...hours, week: sortedWeek(hours.week) },
    awayMessage: awayMessage === null ? null : filledAway(awayMessage),
  }))
  const { hours, holidays, awayMessage } = draft.value
  const isReady = (hours === null || isComplete(hours.week)) && isAwayFilled(awayMessage)
  return (
    <DraftSection title={texts.ofTeam} draft={draft} isComplete={isReady}>
      <Switch
        label={texts.ownHours}
        description={texts.ownHoursHelp}
        checked={hours !== null}
        onChange={(event) => draft.set({ hours: event.currentTarget.checked ? defaultHours(zoneHere()) : null })}
        disabled={!draft.mayChange}
      />
      {hours !== null && (
        <WeekFields
          hours={hours}
          change={(to) => draft.set({ hours: { ...hours, ...to } })}
          error={draft.errorOf('hours')}
          disabled={!draft.mayChange}
        />
      )}
      <Switch
        label={t.settings.holidays.own}
        description={t.settings.holidays.ownHelp}
        checked={holidays !== null}
        onChange={(event) => draft.set({ holidays: event.currentTarget.checked ? [] : null })}
        disabled={!draft.mayChange}
      />
      {holidays !== null && (
        <>
          <HolidayList
            holidays={holidays}
            mayChange={draft.mayChange}
            remove={(holiday) => draft.set({ holidays: holidays.filter((one) => one !== holiday) })}
          />
          {draft.mayChange && <AddHoliday add={(holiday) => draft.set({ holidays: withHoliday(holidays, holiday) })} />}
        </>
      )}
      <AwayFields
        value={awayMessage}
        change={(changed) => draft.set({ awayMessage: changed })}
        label={t.settings.away.own}
        help={t.settings.away.ownHelp}
        disabled={!draft.mayChange}
      />
    </DraftSection>
  )
}
