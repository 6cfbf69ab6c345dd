import { Select } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useTeamList } from '../../data/team/routing.ts'
import {
  noTeamService,
  type TeamServiceFields,
  useTeamServiceChange,
  useTeamServices,
} from '../../data/team/services.ts'
import { t } from '../../text/index.ts'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useSectionDraft } from '../draft/DraftSection.tsx'

interface TeamChoiceProps {
  title: string
  help: string
  /** The form of the chosen team. */
  children(teamId: string, service: TeamServiceFields): ReactNode
}

/** Chooses a team to change what it has of its own; nothing without teams. */
export function TeamChoice({ title, help, children }: TeamChoiceProps) {
  const workspaceId = useWorkspaceId()
  const teams = useTeamList(workspaceId)
  const query = useTeamServices(workspaceId)
  const [chosen, setChosen] = useState<string | null>(null)
  const texts = t.settings.goals
  if (teams.length === 0) return null
  return (
    <QueryBoundary query={query}>
      {(services) => {
        const own = services.filter(({ teamId }) => teams.some(({ id }) => id === teamId))
        const nameOf = (id: string) => teams.find((team) => team.id === id)?.name ?? ''
        const { teamId: _, ...service } = services.find(({ teamId }) => teamId === chosen) ?? {
          ...noTeamService,
          teamId: '',
        }
        return (
          <>
            <Section title={title} help={help}>
              <Select
                label={texts.team}
                placeholder={texts.chooseTeam}
                data={teams.map(({ id, name }) => ({ value: id, label: name }))}
                maw={320}
                value={chosen}
                onChange={setChosen}
                {...(own.length > 0 && {
                  description: texts.withOwn({ teams: own.map(({ teamId }) => nameOf(teamId)).join(', ') }),
                })}
              />
            </Section>
            {chosen !== null && <div key={chosen}>{children(chosen, service)}</div>}
          </>
        )
      }}
    </QueryBoundary>
  )
}

/** Returns what a team has of its own, being edited; saving replaces all of it. */
export function useTeamServiceDraft(
  teamId: string,
  service: TeamServiceFields,
  bodyOf: (value: TeamServiceFields) => TeamServiceFields,
) {
  const change = useTeamServiceChange(useWorkspaceId(), t.settings.saved)
  return useSectionDraft(service, async (value) => {
    const body = bodyOf(value)
    await change.mutateAsync({ teamId, ...body })
    return body
  })
}
