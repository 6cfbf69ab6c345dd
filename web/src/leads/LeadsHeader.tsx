import { ActionIcon, Button } from '@mantine/core'
import { IconColumns3, IconDots, IconLayoutKanban, IconPlus, IconTable, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import type { LeadAddress } from '../shared/lead-view/address.ts'
import { t, withTexts } from '../text/index.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../ui/overlay/dropdown.tsx'
import { prefetchedComponent } from '../ui/overlay/lazy.ts'
import { Tip } from '../ui/overlay/Tip.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import type { GoTo } from './fields/use-address.ts'
import styles from './LeadsPage.module.css'
import type { Columns } from './table/use-columns.ts'

const ColumnsMenu = prefetchedComponent(() => withTexts(() => import('./table/ColumnsMenu.tsx')))
const TransferMenu = prefetchedComponent(() => withTexts(() => import('./TransferMenu.tsx')))

interface LeadsHeaderProps {
  address: LeadAddress
  goTo: GoTo
  /** Null in views without columns. */
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
      <Segments
        label={t.leads.view}
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
              <span className={styles.switch} style={{ display: 'flex' }}>
                <Icon size={16} aria-label={label()} role="img" />
              </span>
            </Tip>
          ),
        }))}
      />
      {columns !== null && <ColumnsButton columns={columns} />}
      <TransferButton address={address} />
    </PageHeader>
  )
}

function ColumnsButton({ columns }: { columns: Columns }) {
  const dropdown = useDropdown(...useState(false))
  return (
    <>
      <Button
        {...dropdownButtonProps(dropdown, 'dialog')}
        variant="subtle"
        color="gray"
        size="compact-sm"
        leftSection={<IconColumns3 size={16} />}
      >
        {t.leads.columns}
      </Button>
      <DropdownContent dropdown={dropdown}>
        <ColumnsMenu dropdown={dropdown} columns={columns} />
      </DropdownContent>
    </>
  )
}

function TransferButton({ address }: { address: LeadAddress }) {
  const dropdown = useDropdown(...useState(false))
  return (
    <>
      <ActionIcon
        {...dropdownButtonProps(dropdown, 'menu')}
        variant="subtle"
        color="gray"
        size={30}
        aria-label={t.leads.importAndExport}
      >
        <IconDots size={18} />
      </ActionIcon>
      <DropdownContent dropdown={dropdown}>
        <TransferMenu dropdown={dropdown} address={address} />
      </DropdownContent>
    </>
  )
}
