import { type BulkChange, useBulkChanges, useLiveBulkChanges } from '../../data/bulk-changes.ts'
import { useLabelsById } from '../../data/labels.ts'
import { type People, usePeople } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, timeAgo } from '../../ui/format/time.ts'
import { BackLink } from '../../ui/page/BackLink.tsx'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { PageBody, QueryBoundary } from '../../ui/page/PageBody.tsx'
import { PageHeader } from '../../ui/page/PageHeader.tsx'
import { type Column, Table } from '../../ui/page/Table.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { BulkButtons } from './BulkStrip.tsx'
import { bulkStatusText, changeText, type LabelNames } from './bulk-texts.ts'

/** Bulk changes by everyone, with undo. */
export function BulkChangesPage() {
  const workspaceId = useWorkspaceId()
  useLiveBulkChanges(workspaceId)
  const query = useBulkChanges(workspaceId)
  const people = usePeople(workspaceId)
  const labels = useLabelsById(workspaceId)
  const { bulk } = t.leads
  return (
    <>
      <PageHeader title={bulk.title} before={<BackLink path="leads" label={t.common.pages.leads} />} />
      <PageBody>
        <QueryBoundary query={query} rows={3}>
          {(all) =>
            all.length === 0 ? (
              <EmptyState title={bulk.empty} help={bulk.emptyHelp} />
            ) : (
              <Table label={bulk.title} columns={columns(people, labels)} rows={all} keyOf={({ id }) => id} />
            )
          }
        </QueryBoundary>
      </PageBody>
    </>
  )
}

const columns = (people: People, labels: LabelNames): Column<BulkChange>[] => [
  { key: 'what', title: t.leads.bulk.what, cell: (one) => <strong>{changeText(one, people, labels)}</strong> },
  { key: 'standing', title: t.leads.bulk.result, cell: bulkStatusText, long: true },
  {
    key: 'who',
    title: t.leads.bulk.who,
    cell: ({ startedBy }) => people.nameOf(startedBy.id) ?? t.common.unknown,
    optional: true,
  },
  {
    key: 'when',
    title: t.leads.bulk.when,
    cell: ({ createdAt }) => <span title={formatDateTime(createdAt)}>{timeAgo(createdAt)}</span>,
    optional: true,
  },
  { key: 'undo', title: t.common.undo, cell: (one) => <BulkButtons one={one} /> },
]
