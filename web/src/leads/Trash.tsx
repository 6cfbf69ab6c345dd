import { Button } from '@mantine/core'
import { useTrash } from '../data/leads.ts'
import { t } from '../text/index.ts'
import { fullMoment, shortMoment } from '../ui/format/time.ts'
import { say } from '../ui/overlay/notices.tsx'
import { Empty } from '../ui/page/Empty.tsx'
import { Loaded } from '../ui/page/PageBody.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import type { LeadVerbs } from './fields/change.ts'
import { nameOf, phoneWords } from './fields/lead.ts'
import styles from './LeadsPage.module.css'

type Trashed = NonNullable<ReturnType<typeof useTrash>['data']>['pages'][number]['leads'][number]

/** What was deleted and can still be had back. */
export function Trash({ verbs }: { verbs: LeadVerbs }) {
  const workspaceId = useWorkspaceId()
  const query = useTrash(workspaceId)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must scroll by keyboard
    <div className={styles.trash} tabIndex={0}>
      <Loaded query={query}>
        {({ pages }) => {
          const total = pages[0]?.total ?? 0
          if (total === 0) return <Empty title={t.leads.trashEmpty} help={t.leads.trashEmptyHelp} />
          return (
            <>
              <p className={styles.trashCount}>{t.leads.count({ n: total })}</p>
              <Table
                label={t.leads.trash}
                columns={columns(verbs)}
                rows={pages.flatMap(({ leads }) => leads)}
                keyOf={({ id }) => id}
              />
              {query.hasNextPage && (
                <Button
                  mt="md"
                  variant="default"
                  loading={query.isFetchingNextPage}
                  onClick={() => void query.fetchNextPage()}
                >
                  {t.leads.more}
                </Button>
              )}
            </>
          )
        }}
      </Loaded>
    </div>
  )
}

const columns = (verbs: LeadVerbs): Column<Trashed>[] => [
  { key: 'name', title: t.leads.fields.name, cell: (lead) => <strong>{nameOf(lead)}</strong> },
  { key: 'phone', title: t.leads.fields.phone, cell: ({ phone }) => phoneWords(phone), optional: true },
  { key: 'email', title: t.leads.fields.email, cell: ({ email }) => email ?? '', optional: true, long: true },
  {
    key: 'deletedAt',
    title: t.leads.fields.deletedAt,
    cell: ({ deletedAt }) => <span title={fullMoment(deletedAt)}>{shortMoment(deletedAt)}</span>,
  },
  {
    key: 'destroyedAt',
    title: t.leads.fields.destroyedAt,
    cell: ({ destroyedAt }) => <span title={fullMoment(destroyedAt)}>{shortMoment(destroyedAt)}</span>,
    optional: true,
  },
  { key: 'restore', title: t.leads.restore, cell: (lead) => <RestoreButton lead={lead} verbs={verbs} /> },
]

function RestoreButton({ lead, verbs }: { lead: Trashed; verbs: LeadVerbs }) {
  const restore = async () => {
    if (await verbs.restore([lead.id])) say(t.leads.restored({ name: nameOf(lead) }))
  }
  return (
    <Button variant="default" size="compact-sm" onClick={() => void restore()}>
      {t.leads.restore}
    </Button>
  )
}
