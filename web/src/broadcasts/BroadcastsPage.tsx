import { Button, Checkbox } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { type Broadcast, useBroadcastActions, useBroadcasts } from '../data/outreach/broadcasts.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { formatDateTime, formatNumber, timeAgo } from '../ui/format/time.ts'
import { showError } from '../ui/overlay/toasts.tsx'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Broadcasts.module.css'
import { StateChip, sentTotals } from './parts.tsx'

/** Templates to many leads at once. */
export function BroadcastsPage() {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const texts = t.broadcasts
  const query = useBroadcasts(workspaceId)
  const { setApproval } = useBroadcastActions(workspaceId)
  const open = (id: string) => void navigate({ to: `/w/${workspaceId}/broadcasts/${id}` as '/' })
  return (
    <>
      <PageHeader
        title={texts.title}
        action={
          <Button leftSection={<IconPlus size={16} />} onClick={() => open('new')}>
            {texts.create}
          </Button>
        }
      />
      <PageBody>
        <QueryBoundary query={query}>
          {({ broadcasts, approval }) => (
            <div className={styles.stack}>
              {broadcasts.length === 0 ? (
                <EmptyState title={texts.empty} help={texts.emptyHelp} />
              ) : (
                <Table
                  label={texts.title}
                  columns={columns()}
                  rows={broadcasts}
                  keyOf={({ id }) => id}
                  open={({ id }) => open(id)}
                />
              )}
              {hasRole(workspaceId, 'admin') && (
                <Checkbox
                  label={texts.approval}
                  description={texts.approvalHelp}
                  checked={approval}
                  onChange={(event) => void setApproval(event.currentTarget.checked).catch(showError)}
                />
              )}
            </div>
          )}
        </QueryBoundary>
      </PageBody>
    </>
  )
}

const columns = (): Column<Broadcast>[] => [
  { key: 'name', title: t.broadcasts.name, cell: ({ name }) => name },
  { key: 'state', title: t.broadcasts.state, cell: (one) => <StateChip state={one.state} />, whole: true },
  {
    key: 'sent',
    title: t.broadcasts.figures.accepted,
    numeric: true,
    cell: (one) =>
      one.counts === null
        ? ''
        : t.broadcasts.ofTotal({
            n: formatNumber(sentTotals(one).accepted),
            total: formatNumber(one.counts.included),
          }),
  },
  { key: 'who', title: t.broadcasts.by, cell: ({ createdBy }) => createdBy.name ?? t.common.unknown, optional: true },
  {
    key: 'when',
    title: t.broadcasts.created,
    cell: ({ createdAt }) => <span title={formatDateTime(createdAt)}>{timeAgo(createdAt)}</span>,
    optional: true,
  },
]
