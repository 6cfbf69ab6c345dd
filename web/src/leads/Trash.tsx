import { Button } from '@mantine/core'
import { useTrash } from '../data/leads.ts'
import { t } from '../text/index.ts'
import { formatDateTime, formatShortTime } from '../ui/format/time.ts'
import { showToast } from '../ui/overlay/toasts.tsx'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { MoreButton } from '../ui/page/MoreButton.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import type { LeadActions } from './fields/change.ts'
import { formatOptionalPhone, nameOf } from './fields/lead.ts'
import styles from './LeadsPage.module.css'

type Trashed = NonNullable<ReturnType<typeof useTrash>['data']>['pages'][number]['leads'][number]

/** Deleted leads that can still be restored. */
export default function Trash({ actions }: { actions: LeadActions }) {
  const workspaceId = useWorkspaceId()
  const query = useTrash(workspaceId)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard
    <div className={styles.trash} tabIndex={0}>
      <QueryBoundary query={query}>
        {({ pages }) => {
          const total = pages[0]?.total ?? 0
          if (total === 0) return <EmptyState title={t.leads.trashEmpty} help={t.leads.trashEmptyHelp} />
          return (
            <>
              <p className={styles.trashCount}>{t.leads.count({ n: total })}</p>
              <Table
                label={t.leads.trash}
                columns={columns(actions)}
                rows={pages.flatMap(({ leads }) => leads)}
                keyOf={({ id }) => id}
              />
              <MoreButton query={query} mt="md">
                {t.leads.more}
              </MoreButton>
            </>
          )
        }}
      </QueryBoundary>
    </div>
  )
}

const columns = (actions: LeadActions): Column<Trashed>[] => [
  { key: 'name', title: t.leads.fields.name, cell: (lead) => <strong>{nameOf(lead)}</strong> },
  { key: 'phone', title: t.leads.fields.phone, cell: ({ phone }) => formatOptionalPhone(phone), optional: true },
  { key: 'email', title: t.leads.fields.email, cell: ({ email }) => email ?? '', optional: true, long: true },
  timeColumn('deletedAt'),
  { ...timeColumn('destroyedAt'), optional: true },
  { key: 'restore', title: t.leads.restore, cell: (lead) => <RestoreButton lead={lead} actions={actions} /> },
]

const timeColumn = (key: 'deletedAt' | 'destroyedAt'): Column<Trashed> => ({
  key,
  title: t.leads.fields[key],
  cell: ({ [key]: at }) => <span title={formatDateTime(at)}>{formatShortTime(at)}</span>,
})

function RestoreButton({ lead, actions }: { lead: Trashed; actions: LeadActions }) {
  const restore = async () => {
    if (await actions.restore([lead.id])) showToast(t.leads.restored({ name: nameOf(lead) }))
  }
  return (
    <Button variant="default" size="compact-sm" onClick={() => void restore()}>
      {t.leads.restore}
    </Button>
  )
}
