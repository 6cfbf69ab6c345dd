import type { ApiKey } from '../data/keys.ts'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { formatDateTime, timeAgo } from '../ui/format/time.ts'
import { type Column, Table } from '../ui/page/Table.tsx'

export function KeyTable({ keys, open }: { keys: ApiKey[]; open: (key: ApiKey) => void }) {
  return <Table label={t.keys.title} columns={columns()} rows={keys} keyOf={({ id }) => id} open={open} />
}

const columns = (): Column<ApiKey>[] => [
  { key: 'name', title: t.keys.name, cell: ({ name }) => name, whole: true },
  { key: 'status', title: t.keys.status, cell: ({ status }) => <StatusChip status={status} /> },
  { key: 'shown', title: t.keys.value, cell: ({ shown }) => <code>{shown}</code>, optional: true },
  {
    key: 'may',
    title: t.keys.permissions,
    cell: ({ scopes }) => scopes.map((scope) => t.keys.scopes[scope]).join(', '),
    optional: true,
  },
  { key: 'used', title: t.keys.lastUsed, cell: ({ lastUsedAt }) => <LastUsed at={lastUsedAt} />, whole: true },
]

export function StatusChip({ status }: Pick<ApiKey, 'status'>) {
  return <Chip tone={status === 'active' ? 'good' : 'plain'}>{t.keys.statuses[status]}</Chip>
}

function LastUsed({ at }: { at: string | null }) {
  if (at === null) return t.keys.never
  return <span title={formatDateTime(at)}>{timeAgo(at)}</span>
}
