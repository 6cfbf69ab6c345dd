import { Anchor, Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type CountedNumber, type Days, useCounted } from '../data/team/agent-numbers.ts'
import { t } from '../text/index.ts'
import { formatDateTime } from '../ui/format/time.ts'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

interface CountedPanelProps {
  keyId: string
  number: CountedNumber
  period: Days
  close(): void
}

/** The conversations that a number counts. */
export function CountedPanel({ keyId, number, period, close }: CountedPanelProps) {
  const workspaceId = useWorkspaceId()
  const query = useCounted(workspaceId, keyId, number, period)
  const names: Record<string, string> = { ...t.review.outcomes, ...t.review.numbers, answered: t.review.cases }
  return (
    <SidePanel title={names[number] ?? ''} close={close}>
      <QueryBoundary query={query} rows={6}>
        {({ pages }) => (
          <Table
            label={names[number] ?? ''}
            columns={[
              {
                key: 'name',
                title: t.review.customer,
                cell: ({ conversationId, name }) => (
                  <Anchor component={Link} to={`/w/${workspaceId}/inbox/${conversationId}`} size="sm">
                    {name ?? t.inbox.noName}
                  </Anchor>
                ),
              },
              { key: 'at', title: t.review.when, whole: true, cell: ({ at }) => formatDateTime(at) },
            ]}
            rows={pages.flatMap(({ conversations }) => conversations)}
            keyOf={({ id }) => id}
          />
        )}
      </QueryBoundary>
      {query.hasNextPage && (
        <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          {t.review.more}
        </Button>
      )}
    </SidePanel>
  )
}
