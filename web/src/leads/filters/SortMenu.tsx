import { Menu } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconCheck } from '@tabler/icons-react'
import { type LeadAddress, sortOf } from '../../shared/lead-view/address.ts'
import {
  type Column,
  isCustom,
  isSortable,
  isSortedInDatabase,
  plainColumns,
} from '../../shared/lead-view/conditions.ts'
import { t } from '../../text/index.ts'
import { DropdownMenu } from '../../ui/overlay/DropdownMenu.tsx'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'
import { activeColumns, type CustomColumnInfo } from '../fields/custom-columns.ts'
import type { GoTo } from '../fields/use-address.ts'
import { titleOf } from './sentence.ts'

interface SortMenuProps {
  dropdown: Dropdown
  address: LeadAddress
  goTo: GoTo
  customs: readonly CustomColumnInfo[]
}

/** Sorts by any column, visible or not. */
export default function SortMenu({ dropdown, address, goTo, customs }: SortMenuProps) {
  const { column, isDescending } = sortOf(address)
  const columns: Column[] = [
    ...plainColumns.filter(isSortable),
    ...activeColumns(customs).map((one) => one.column),
    ...(isCustom(column) && activeColumns(customs).every((one) => one.column !== column) ? [column] : []),
  ]
  const set = (next: Column, descending: boolean) =>
    goTo((before) => ({ ...before, sort: descending ? `-${next}` : next }))
  return (
    <DropdownMenu dropdown={dropdown} position="bottom-start" width={280} closeOnItemClick={false}>
      {([false, true] as const).map((descending) => (
        <Menu.Item
          key={String(descending)}
          leftSection={descending ? <IconArrowDown size={14} /> : <IconArrowUp size={14} />}
          rightSection={descending === isDescending && <IconCheck size={14} />}
          onClick={() => set(column, descending)}
        >
          {t.filtering[descending ? 'down' : 'up']}
        </Menu.Item>
      ))}
      <Menu.Divider />
      <Menu.Label>{isSortedInDatabase(column) ? t.filtering.byDatabase : t.filtering.byMemory}</Menu.Label>
      {columns.map((one) => (
        <Menu.Item
          key={one}
          rightSection={one === column && <IconCheck size={14} />}
          onClick={() => set(one, one === 'createdAt' || one === 'updatedAt')}
        >
          {titleOf(one, customs)}
        </Menu.Item>
      ))}
      <Menu.Divider />
      <Menu.Label>{t.filtering.notesUnsorted}</Menu.Label>
    </DropdownMenu>
  )
}
