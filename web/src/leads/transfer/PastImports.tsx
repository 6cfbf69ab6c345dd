import type { Import } from '../../data/imports.ts'
import { t } from '../../text/index.ts'
import { Chip, type Tone } from '../../ui/Chip.tsx'
import { formatDateTime, formatNumber, timeAgo } from '../../ui/format/time.ts'
import { type Column, Table } from '../../ui/page/Table.tsx'
import styles from './transfer.module.css'

const tones: Partial<Record<Import['state'], Tone>> = {
  running: 'accent',
  paused: 'attention',
  checked: 'accent',
  done: 'good',
  failed: 'bad',
}

/** Past imports, newest first; each opens where it was left. */
export function PastImports({ imports, open }: { imports: Import[]; open(id: string): void }) {
  return (
    <section className={styles.past}>
      <h2 className={styles.title}>{t.transfer.past}</h2>
      <Table
        label={t.transfer.past}
        columns={columns()}
        rows={imports}
        keyOf={({ id }) => id}
        open={({ id }) => open(id)}
      />
    </section>
  )
}

const columns = (): Column<Import>[] => [
  { key: 'file', title: t.transfer.file, cell: ({ fileName }) => fileName },
  { key: 'state', title: t.transfer.state, cell: (one) => <ImportState one={one} /> },
  { key: 'rows', title: t.transfer.rows, cell: ({ rows }) => formatNumber(rows), numeric: true },
  {
    key: 'refused',
    title: t.transfer.refused,
    cell: ({ refused }) => formatNumber(refused),
    numeric: true,
    optional: true,
  },
  {
    key: 'when',
    title: t.transfer.when,
    cell: ({ createdAt }) => <span title={formatDateTime(createdAt)}>{timeAgo(createdAt)}</span>,
    optional: true,
  },
]

export function ImportState({ one: { state } }: { one: Import }) {
  return <Chip tone={tones[state] ?? 'plain'}>{t.transfer.states[state]}</Chip>
}
