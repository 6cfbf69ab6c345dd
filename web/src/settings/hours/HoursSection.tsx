import { Switch } from '@mantine/core'
import type { TeamServiceFields } from '../../data/team/services.ts'
import type { Workspace } from '../../data/workspace.ts'
import { t } from '../../text/index.ts'
import { DraftSection, type SectionDraft, useWorkspaceDraft } from '../draft/DraftSection.tsx'
import { MinutesSection } from '../draft/MinutesSection.tsx'
import { TeamChoice, useTeamServiceDraft } from '../goals/TeamChoice.tsx'
import { WorkspaceBoundary } from '../parts/WorkspaceBoundary.tsx'
import { AwayFields, AwaySection, filledAway, isAwayFilled } from './Away.tsx'
import { AddHoliday, HolidayList, HolidaysSection, withHoliday } from './Holidays.tsx'
import { WeekFields } from './WeekFields.tsx'
import { defaultHours, type Hours, isComplete, sortedHours, zoneHere } from './week-hours.ts'

/** Default time until people are notified of a waiting customer. */
const defaultMinutes = 15

/** Business hours, holidays and away messages of the workspace and its teams. */
export function HoursSection() {
  return (
    <WorkspaceBoundary>
      {(workspace) => (
        <>
          <HoursForm workspace={workspace} />
          <HolidaysSection workspace={workspace} />
          <AwaySection workspace={workspace} />
          <MinutesSection
            workspace={workspace}
            field="answerGoalMinutes"
            defaultMinutes={defaultMinutes}
            texts={t.settings.goal}
          />
          <TeamHours />
        </>
      )}
    </WorkspaceBoundary>
  )
}

function HoursForm({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.hours
  const draft = useWorkspaceDraft(
    workspace,
    ({ hours }) => ({ hours }),
    ({ hours }) => ({ hours: sortedHours(hours) }),
  )
  const { mayChange } = draft
  const { hours } = draft.value
  return (
    <DraftSection
      title={texts.title}
      help={mayChange ? texts.help : t.settings.adminsOnly}
      draft={draft}
      isComplete={hours === null || isComplete(hours.week)}
    >
      <OptionalHours draft={draft} label={texts.isShared} help={texts.isSharedHelp} />
    </DraftSection>
  )
}

/** Hours, holidays and away messages of teams that have their own. */
const TeamHours = () => (
  <TeamChoice title={t.settings.hours.ofTeams} help={t.settings.hours.ofTeamsHelp}>
    {(teamId, service) => <TeamHoursForm teamId={teamId} service={service} />}
  </TeamChoice>
)

function TeamHoursForm({ teamId, service }: { teamId: string; service: TeamServiceFields }) {
  const texts = t.settings.hours
  const draft = useTeamServiceDraft(teamId, service, ({ hours, awayMessage, ...rest }) => ({
    ...rest,
    hours: sortedHours(hours),
    awayMessage: awayMessage === null ? null : filledAway(awayMessage),
  }))
  const { hours, holidays, awayMessage } = draft.value
  const isReady = (hours === null || isComplete(hours.week)) && isAwayFilled(awayMessage)
  return (
    <DraftSection title={texts.ofTeam} draft={draft} isComplete={isReady}>
      <OptionalHours draft={draft} label={texts.ownHours} help={texts.ownHoursHelp} />
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

interface OptionalHoursProps {
  draft: Pick<SectionDraft<{ hours: Hours | null }>, 'value' | 'set' | 'errorOf' | 'mayChange'>
  label: string
  help: string
}

/** Business hours, or none. */
function OptionalHours({ draft: { value, set, errorOf, mayChange }, label, help }: OptionalHoursProps) {
  const { hours } = value
  return (
    <>
      <Switch
        label={label}
        description={help}
        checked={hours !== null}
        onChange={(event) => set({ hours: event.currentTarget.checked ? defaultHours(zoneHere()) : null })}
        disabled={!mayChange}
      />
      {hours !== null && (
        <WeekFields
          hours={hours}
          change={(to) => set({ hours: { ...hours, ...to } })}
          error={errorOf('hours')}
          disabled={!mayChange}
        />
      )}
    </>
  )
}
