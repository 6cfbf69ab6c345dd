import { type Column, plainColumns } from '../../shared/lead-view/conditions.ts'
import { t } from '../../text/index.ts'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'
import { Picker } from '../../ui/overlay/Picker.tsx'
import { activeColumns, type CustomColumnInfo } from '../fields/custom-columns.ts'
import { titleOf } from './sentence.ts'

interface ColumnPickerProps {
  dropdown: Dropdown
  customs: readonly CustomColumnInfo[]
  choose(column: Column): void
}

/** Chooses a column to filter by, with search. */
export default function ColumnPicker({ dropdown, customs, choose }: ColumnPickerProps) {
  const items = [...plainColumns, ...activeColumns(customs).map(({ column }) => column)].map((column) => ({
    id: column,
    label: titleOf(column, customs),
  }))
  return (
    <Picker
      dropdown={dropdown}
      label={t.filtering.add}
      placeholder={t.filtering.addSearch}
      items={items}
      choose={({ id }) => choose(id as Column)}
    />
  )
}
