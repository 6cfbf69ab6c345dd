import { Popover } from '@mantine/core'
import { t } from '../../text/index.ts'
import { ButtonOf, useOpening } from '../../ui/overlay/DropMenu.tsx'
import type { Drop } from '../../ui/overlay/drop.tsx'
import { FilterPanel, type FilterPanelProps } from './FilterPanel.tsx'

/** The filters, under the button of the list's header. */
export default function FilterDrop({ drop, ...panel }: FilterPanelProps & { drop: Drop }) {
  const { isOpen, ...rest } = useOpening(drop)
  return (
    <Popover {...rest} opened={isOpen} position="bottom-end" width={300} shadow="md" trapFocus>
      <Popover.Target>
        <ButtonOf drop={drop} />
      </Popover.Target>
      <Popover.Dropdown aria-label={t.inbox.filter}>
        <FilterPanel {...panel} />
      </Popover.Dropdown>
    </Popover>
  )
}
