import { t } from '../../text/index.ts'
import type { Drop } from '../../ui/overlay/drop.tsx'
import { Picker } from '../../ui/overlay/Picker.tsx'
import { type Column, plainColumns } from '../fields/conditions.ts'
import { type CustomName, inUse } from '../fields/custom-columns.ts'
import { titleOf } from './sentence.ts'

interface ColumnPickerProps {
  drop: Drop
  customs: readonly CustomName[]
  choose(column: Column): void
}

/** A column to filter by, found by typing. */
export default function ColumnPicker({ drop, customs, choose }: ColumnPickerProps) {
  const items = [...plainColumns, ...inUse(customs).map(({ column }) => column)].map((column) => ({
    id: column,
    label: titleOf(column, customs),
  }))
  return (
    <Picker
      drop={drop}
      label={t.filtering.add}
      placeholder={t.filtering.addSearch}
      items={items}
      choose={({ id }) => choose(id as Column)}
    />
  )
}
