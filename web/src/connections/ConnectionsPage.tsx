import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { type Connection, useConnections } from '../data/connections.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useShortcuts } from '../ui/shortcuts.ts'
import { useCreate } from '../ui/use-create.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { AddPanel } from './add/AddPanel.tsx'
import styles from './parts/facts.module.css'
import { ChannelName, StateChip, TimeAgo } from './parts/facts.tsx'
import { PhonesLink } from './parts/PhonesLink.tsx'
import { numberOf } from './parts/state-texts.ts'

export function ConnectionsPage() {
  const workspaceId = useWorkspaceId()
  const query = useConnections(workspaceId)
  const navigate = useNavigate()
  const [isAdding, setAdding] = useCreate()
  const mayChange = hasRole(workspaceId, 'admin')
  useShortcuts(
    t.connections.title,
    useMemo(
      () => (mayChange ? [{ keys: 'c', label: t.connections.add, run: () => setAdding(true) }] : []),
      [mayChange, setAdding],
    ),
  )
  const open = (id: string) =>
    void navigate({
      to: '/w/$workspaceId/connections/$connectionId',
      params: { workspaceId, connectionId: id },
    })
  const add = () => setAdding(true)

  return (
    <>
      <PageHeader
        title={t.connections.title}
        action={
          mayChange && (
            <Button leftSection={<IconPlus size={16} />} onClick={add}>
              {t.connections.add}
            </Button>
          )
        }
      />
      <PageBody>
        <QueryBoundary query={query}>
          {(connections) =>
            connections.length === 0 ? (
              <EmptyState
                title={t.connections.empty}
                {...(mayChange && { action: { label: t.connections.add, run: add } })}
              />
            ) : (
              <ConnectionTable connections={connections} open={({ id }) => open(id)} />
            )
          }
        </QueryBoundary>
        <PhonesLink />
      </PageBody>
      {isAdding && query.isFetched && <AddPanel close={() => setAdding(false)} open={open} />}
    </>
  )
}

function ConnectionTable({ connections, open }: { connections: Connection[]; open(one: Connection): void }) {
  return <Table label={t.connections.title} columns={columns()} rows={connections} keyOf={({ id }) => id} open={open} />
}

const columns = (): Column<Connection>[] => [
  { key: 'name', title: t.connections.name, cell: (one) => one.name },
  {
    key: 'channel',
    title: t.connections.channel,
    cell: ({ channel }) => <ChannelName channel={channel} />,
    optional: true,
  },
  {
    key: 'number',
    title: t.connections.number,
    cell: (one) => numberOf(one) ?? <span className={styles.muted}>{t.common.none}</span>,
    optional: true,
  },
  { key: 'state', title: t.connections.state, cell: (one) => <StateChip connection={one} withReason /> },
  {
    key: 'in',
    title: t.connections.lastIn,
    cell: ({ lastEventInAt }) => <TimeAgo at={lastEventInAt} />,
    optional: true,
  },
  {
    key: 'out',
    title: t.connections.lastOut,
    cell: ({ lastEventOutAt }) => <TimeAgo at={lastEventOutAt} />,
    optional: true,
  },
]
