import { Switch } from '@mantine/core'
import { useWorkspace, type Workspace } from '../../data/workspace.ts'
import { t } from '../../text/index.ts'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { DraftSection, useWorkspaceDraft } from '../draft/DraftSection.tsx'
import { MinutesSection } from '../draft/MinutesSection.tsx'
import { AwaySection } from './AwaySection.tsx'
import { HolidaysSection } from './HolidaysSection.tsx'
import { TeamHours } from './TeamHours.tsx'
import { WeekFields } from './WeekFields.tsx'
import { defaultHours, isComplete, sortedWeek, zoneHere } from './week-hours.ts'

/** Default time until people are notified of a waiting customer. */
const defaultMinutes = 15

/** Business hours, holidays and away messages of the workspace and its teams. */
export function HoursSection() {
  const workspaceId = useWorkspaceId()
  const query = useWorkspace(workspaceId)
  return (
    <QueryBoundary query={query}>
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
    </QueryBoundary>
  )
}

function HoursForm({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.hours
  const draft = useWorkspaceDraft(
    workspace,
    ({ hours }) => ({ hours }),
    ({ hours }) => ({ hours: hours === null ? null : { ...hours, week: sortedWeek(hours.week) } }),
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
      <Switch
        label={texts.isShared}
        description={texts.isSharedHelp}
        checked={hours !== null}
        onChange={(event) => draft.set({ hours: event.currentTarget.checked ? defaultHours(zoneHere()) : null })}
        disabled={!mayChange}
      />
      {hours !== null && (
        <WeekFields
          hours={hours}
          change={(to) => draft.set({ hours: { ...hours, ...to } })}
          error={draft.errorOf('hours')}
          disabled={!mayChange}
        />
      )}
    </DraftSection>
  )
}
