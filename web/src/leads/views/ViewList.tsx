import { Menu } from '@mantine/core'
import { IconCheck, IconUsers } from '@tabler/icons-react'
import { t } from '../../text/index.ts'
import { DropdownMenu } from '../../ui/overlay/DropdownMenu.tsx'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'
import type { View, Views } from './use-views.ts'

interface ViewListProps {
  dropdown: Dropdown
  views: Views
  /** Undefined: all leads. */
  shown: readonly (View | undefined)[]
}

/** Views without space for a tab. */
export default function ViewList({ dropdown, views, shown }: ViewListProps) {
  return (
    <DropdownMenu dropdown={dropdown} position="bottom-start" width={260}>
      {shown.map((view) => (
        <Menu.Item
          key={view?.id ?? 'all'}
          onClick={() => views.show(view)}
          leftSection={view?.shared && <IconUsers size={14} aria-label={t.views.shared} role="img" />}
          rightSection={view?.id === views.open?.id && <IconCheck size={14} aria-label={t.views.isOpen} role="img" />}
        >
          {view?.name ?? t.views.all}
        </Menu.Item>
      ))}
    </DropdownMenu>
  )
}
