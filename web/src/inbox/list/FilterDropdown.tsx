import { Popover } from '@mantine/core'
import { t } from '../../text/index.ts'
import { DropdownTarget, useDropdownState } from '../../ui/overlay/DropdownMenu.tsx'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'
import { FilterPanel, type FilterPanelProps } from './FilterPanel.tsx'

export default function FilterDropdown({ dropdown, ...panel }: FilterPanelProps & { dropdown: Dropdown }) {
  const { isOpen, ...rest } = useDropdownState(dropdown)
  return (
    <Popover {...rest} opened={isOpen} position="bottom-end" width={300} shadow="md" trapFocus>
      <Popover.Target>
        <DropdownTarget dropdown={dropdown} />
      </Popover.Target>
      <Popover.Dropdown aria-label={t.inbox.filter}>
        <FilterPanel {...panel} />
      </Popover.Dropdown>
    </Popover>
  )
}
