import { type BulkChange, useBulkChanges, useBulkNews } from '../../data/bulk-changes.ts'
import { useLabelsById } from '../../data/labels.ts'
import { type People, usePeople } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { ago, fullMoment } from '../../ui/format/time.ts'
import { BackLink } from '../../ui/page/BackLink.tsx'
import { Empty } from '../../ui/page/Empty.tsx'
import { Loaded, PageBody } from '../../ui/page/PageBody.tsx'
import { PageHeader } from '../../ui/page/PageHeader.tsx'
import { type Column, Table } from '../../ui/page/Table.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { BulkButtons } from './BulkStrip.tsx'
import { type LabelNames, standing, wishWords } from './bulk-words.ts'

/** What was done to many leads at once, by whom, and what can still be undone. */
export function BulkChangesPage() {
  const workspaceId = useWorkspaceId()
  useBulkNews(workspaceId)
  const query = useBulkChanges(workspaceId)
  const people = usePeople(workspaceId)
  const labels = useLabelsById(workspaceId)
  const { bulk } = t.leads
  return (
    <>
      <PageHeader title={bulk.title} before={<BackLink path="leads" label={t.common.pages.leads} />} />
      <PageBody>
        <Loaded query={query} rows={3}>
          {(all) =>
            all.length === 0 ? (
              <Empty title={bulk.empty} help={bulk.emptyHelp} />
            ) : (
              <Table label={bulk.title} columns={columns(people, labels)} rows={all} keyOf={({ id }) => id} />
            )
          }
        </Loaded>
      </PageBody>
    </>
  )
}

const columns = (people: People, labels: LabelNames): Column<BulkChange>[] => [
  { key: 'what', title: t.leads.bulk.what, cell: (one) => <strong>{wishWords(one, people, labels)}</strong> },
  { key: 'standing', title: t.leads.bulk.result, cell: standing, long: true },
  {
    key: 'who',
    title: t.leads.bulk.who,
    cell: ({ startedBy }) => people.nameOf(startedBy.id) ?? t.common.unknown,
    optional: true,
  },
  {
    key: 'when',
    title: t.leads.bulk.when,
    cell: ({ createdAt }) => <span title={fullMoment(createdAt)}>{ago(createdAt)}</span>,
    optional: true,
  },
  { key: 'undo', title: t.common.undo, cell: (one) => <BulkButtons one={one} /> },
]
