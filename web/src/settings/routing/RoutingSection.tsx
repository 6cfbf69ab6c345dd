import { useState } from 'react'
import { type Team, useRouting, useTeams } from '../../data/team/routing.ts'
import { hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { Table } from '../../ui/page/Table.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { AddButton } from '../parts/ItemList.tsx'
import { PeopleSection } from './PeopleSection.tsx'
import styles from './Routing.module.css'
import { RulesSection } from './RulesSection.tsx'
import { TeamPanel } from './TeamPanel.tsx'

/** Teams, who is available, and who gets new conversations. */
export function RoutingSection() {
  const workspaceId = useWorkspaceId()
  const teams = useTeams(workspaceId)
  const routing = useRouting(workspaceId)
  return (
    <div className={styles.sections}>
      <QueryBoundary query={teams}>{(list) => <TeamsSection teams={list} />}</QueryBoundary>
      <QueryBoundary query={routing}>
        {(loaded) => (
          <>
            <RulesSection routing={loaded} teams={teams.data ?? []} />
            <PeopleSection routing={loaded} />
          </>
        )}
      </QueryBoundary>
    </div>
  )
}

function TeamsSection({ teams }: { teams: readonly Team[] }) {
  const texts = t.settings.routing
  const [open, setOpen] = useState<Team | 'new' | null>(null)
  const mayChange = hasRole(useWorkspaceId(), 'admin')
  return (
    <>
      <Section
        title={texts.teams}
        help={texts.teamsHelp}
        action={mayChange && <AddButton label={texts.create} run={() => setOpen('new')} />}
      >
        {teams.length === 0 ? (
          <EmptyState title={texts.empty} />
        ) : (
          <Table
            label={texts.teams}
            rows={teams}
            keyOf={({ id }) => id}
            {...(mayChange && { open: setOpen })}
            columns={[
              { key: 'name', title: texts.name, cell: ({ name }) => name },
              { key: 'rule', title: texts.assignment, cell: ({ assignment }) => texts.assignments[assignment] },
              { key: 'members', title: texts.members, cell: ({ memberIds }) => memberIds.length, numeric: true },
            ]}
          />
        )}
      </Section>
      {open !== null && <TeamPanel team={open === 'new' ? null : open} close={() => setOpen(null)} />}
    </>
  )
}
