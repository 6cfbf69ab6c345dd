import { ActionIcon, Button, SegmentedControl } from '@mantine/core'
import { IconLayoutKanban, IconPlus, IconTable, IconTrash } from '@tabler/icons-react'
import { t } from '../text/index.ts'
import { Tip } from '../ui/overlay/Tip.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import type { LeadAddress } from './fields/address.ts'
import type { GoTo } from './fields/use-address.ts'
import styles from './LeadsPage.module.css'
import { TransferMenu } from './TransferMenu.tsx'
import { ColumnsMenu } from './table/ColumnsMenu.tsx'
import type { Columns } from './table/use-columns.ts'

interface LeadsHeaderProps {
  address: LeadAddress
  goTo: GoTo
  /** Null where columns are not chosen. */
  columns: Columns | null
  create(): void
}

const views = [
  { value: 'table', icon: IconTable, label: () => t.leads.table },
  { value: 'board', icon: IconLayoutKanban, label: () => t.leads.board },
  { value: 'trash', icon: IconTrash, label: () => t.leads.trash },
] as const

export function LeadsHeader({ address, goTo, columns, create }: LeadsHeaderProps) {
  return (
    <PageHeader
      title={t.leads.title}
      action={
        <>
          <Button leftSection={<IconPlus size={16} />} onClick={create} className={styles.wide}>
            {t.leads.create}
          </Button>
          <ActionIcon size={34} onClick={create} aria-label={t.leads.create} className={styles.narrow}>
            <IconPlus size={18} />
          </ActionIcon>
        </>
      }
    >
      <SegmentedControl
        size="xs"
        aria-label={t.leads.view}
        value={address.view ?? 'table'}
        onChange={(chosen) =>
          goTo(({ view: _, ...before }) =>
            chosen === 'board' || chosen === 'trash' ? { ...before, view: chosen } : before,
          )
        }
        data={views.map(({ value, icon: Icon, label }) => ({
          value,
          label: (
            <Tip label={label()}>
              <span style={{ display: 'flex' }}>
                <Icon size={16} aria-label={label()} role="img" />
              </span>
            </Tip>
          ),
        }))}
      />
      {columns !== null && <ColumnsMenu columns={columns} />}
      <TransferMenu address={address} />
    </PageHeader>
  )
}
