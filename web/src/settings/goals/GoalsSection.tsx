import { Switch } from '@mantine/core'
import type { TeamServiceFields } from '../../data/team/services.ts'
import { useWorkspace, type Workspace } from '../../data/workspace.ts'
import { t } from '../../text/index.ts'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { DraftSection, useWorkspaceDraft } from '../draft/DraftSection.tsx'
import { defaultGoals, GoalFields } from './GoalFields.tsx'
import { TeamChoice, useTeamServiceDraft } from './TeamChoice.tsx'

/** Service-level goals of the workspace, and of teams with their own. */
export function GoalsSection() {
  const query = useWorkspace(useWorkspaceId())
  const texts = t.settings.goals
  return (
    <QueryBoundary query={query}>
      {(workspace) => (
        <>
          <GoalsForm workspace={workspace} />
          <TeamChoice title={texts.ofTeams} help={texts.ofTeamsHelp}>
            {(teamId, service) => <TeamGoalsForm teamId={teamId} service={service} />}
          </TeamChoice>
        </>
      )}
    </QueryBoundary>
  )
}

function GoalsForm({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.goals
  const draft = useWorkspaceDraft(
    workspace,
    ({ serviceGoals }) => ({ serviceGoals }),
    ({ serviceGoals }) => ({ serviceGoals }),
  )
  const { serviceGoals } = draft.value
  return (
    <DraftSection title={texts.title} help={draft.mayChange ? texts.help : t.settings.adminsOnly} draft={draft}>
      <Switch
        label={texts.isOn}
        description={texts.isOnHelp}
        checked={serviceGoals !== null}
        onChange={(event) => draft.set({ serviceGoals: event.currentTarget.checked ? defaultGoals : null })}
        disabled={!draft.mayChange}
      />
      {serviceGoals !== null && (
        <GoalFields
          value={serviceGoals}
          change={(value) => draft.set({ serviceGoals: value })}
          disabled={!draft.mayChange}
        />
      )}
    </DraftSection>
  )
}

function TeamGoalsForm({ teamId, service }: { teamId: string; service: TeamServiceFields }) {
  const texts = t.settings.goals
  const draft = useTeamServiceDraft(teamId, service, (value) => value)
  const { serviceGoals } = draft.value
  return (
    <DraftSection title={texts.ofTeam} draft={draft}>
      <Switch
        label={texts.own}
        description={texts.ownHelp}
        checked={serviceGoals !== null}
        onChange={(event) => draft.set({ serviceGoals: event.currentTarget.checked ? defaultGoals : null })}
        disabled={!draft.mayChange}
      />
      {serviceGoals !== null && (
        <GoalFields
          value={serviceGoals}
          change={(value) => draft.set({ serviceGoals: value })}
          disabled={!draft.mayChange}
        />
      )}
    </DraftSection>
  )
}
