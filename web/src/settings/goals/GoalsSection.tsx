import { Group, NumberInput, Switch } from '@mantine/core'
import { priorities } from '../../data/inbox/types.ts'
import type { GoalMinutes, ServiceGoals, TeamServiceFields } from '../../data/team/services.ts'
import type { Workspace } from '../../data/workspace.ts'
import { t } from '../../text/index.ts'
import { DraftSection, type SectionDraft, useWorkspaceDraft } from '../draft/DraftSection.tsx'
import { WorkspaceBoundary } from '../parts/WorkspaceBoundary.tsx'
import styles from './GoalFields.module.css'
import { TeamChoice, useTeamServiceDraft } from './TeamChoice.tsx'

/** Service-level goals of the workspace, and of teams with their own. */
export function GoalsSection() {
  const texts = t.settings.goals
  return (
    <WorkspaceBoundary>
      {(workspace) => (
        <>
          <GoalsForm workspace={workspace} />
          <TeamChoice title={texts.ofTeams} help={texts.ofTeamsHelp}>
            {(teamId, service) => <TeamGoalsForm teamId={teamId} service={service} />}
          </TeamChoice>
        </>
      )}
    </WorkspaceBoundary>
  )
}

function GoalsForm({ workspace }: { workspace: Workspace }) {
  const texts = t.settings.goals
  const draft = useWorkspaceDraft(
    workspace,
    ({ serviceGoals }) => ({ serviceGoals }),
    ({ serviceGoals }) => ({ serviceGoals }),
  )
  return (
    <DraftSection title={texts.title} help={draft.mayChange ? texts.help : t.settings.adminsOnly} draft={draft}>
      <OptionalGoals draft={draft} label={texts.isOn} help={texts.isOnHelp} />
    </DraftSection>
  )
}

function TeamGoalsForm({ teamId, service }: { teamId: string; service: TeamServiceFields }) {
  const texts = t.settings.goals
  const draft = useTeamServiceDraft(teamId, service, (value) => value)
  return (
    <DraftSection title={texts.ofTeam} draft={draft}>
      <OptionalGoals draft={draft} label={texts.own} help={texts.ownHelp} />
    </DraftSection>
  )
}

interface OptionalGoalsProps {
  draft: Pick<SectionDraft<{ serviceGoals: ServiceGoals | null }>, 'value' | 'set' | 'mayChange'>
  label: string
  help: string
}

/** Goals, or none. */
function OptionalGoals({ draft: { value, set, mayChange }, label, help }: OptionalGoalsProps) {
  const { serviceGoals } = value
  const change = (goals: ServiceGoals | null) => set({ serviceGoals: goals })
  return (
    <>
      <Switch
        label={label}
        description={help}
        checked={serviceGoals !== null}
        onChange={(event) => change(event.currentTarget.checked ? defaultGoals : null)}
        disabled={!mayChange}
      />
      {serviceGoals !== null && <GoalFields value={serviceGoals} change={change} disabled={!mayChange} />}
    </>
  )
}

const fields = ['firstAnswer', 'nextAnswer', 'resolution'] as const
const maxMinutes = 10_080

const defaultGoals: ServiceGoals = { firstAnswer: 30, nextAnswer: 60, resolution: null, priorities: {} }

interface GoalFieldsProps {
  value: ServiceGoals
  change(value: ServiceGoals): void
  disabled: boolean
}

/** Goals in minutes of business hours, and others for conversations with a priority. */
function GoalFields({ value, change, disabled }: GoalFieldsProps) {
  const texts = t.settings.goals
  const { priorities: ofPriorities, ...common } = value
  return (
    <>
      <MinutesFields value={common} change={(minutes) => change({ ...value, ...minutes })} disabled={disabled} />
      {priorities.toReversed().map((priority) => {
        const own = ofPriorities[priority]
        const set = (minutes: GoalMinutes | null) => {
          const { [priority]: _, ...others } = ofPriorities
          change({ ...value, priorities: minutes === null ? others : { ...others, [priority]: minutes } })
        }
        return (
          <fieldset key={priority} className={styles.priority} aria-label={t.inbox.priorities[priority]}>
            <Switch
              label={texts.ofPriority({ priority: t.inbox.priorities[priority] })}
              checked={own !== undefined}
              onChange={(event) => set(event.currentTarget.checked ? common : null)}
              disabled={disabled}
            />
            {own !== undefined && <MinutesFields value={own} change={set} disabled={disabled} />}
          </fieldset>
        )
      })}
    </>
  )
}

interface MinutesFieldsProps {
  value: GoalMinutes
  change(value: GoalMinutes): void
  disabled: boolean
}

const MinutesFields = ({ value, change, disabled }: MinutesFieldsProps) => (
  <Group align="flex-start" gap="md">
    {fields.map((field) => (
      <NumberInput
        key={field}
        label={t.settings.goals[field]}
        placeholder={t.settings.goals.none}
        w={180}
        min={1}
        max={maxMinutes}
        allowDecimal={false}
        value={value[field] ?? ''}
        onChange={(minutes) => change({ ...value, [field]: minutes === '' ? null : Number(minutes) })}
        disabled={disabled}
      />
    ))}
  </Group>
)
