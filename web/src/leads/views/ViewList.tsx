import { Menu } from '@mantine/core'
import { IconCheck, IconUsers } from '@tabler/icons-react'
import { t } from '../../text/index.ts'
import { DropMenu } from '../../ui/overlay/DropMenu.tsx'
import type { Drop } from '../../ui/overlay/drop.tsx'
import type { View, Views } from './use-views.ts'

interface ViewListProps {
  drop: Drop
  views: Views
  /** Undefined: all leads. */
  shown: readonly (View | undefined)[]
}

/** Views to choose from that have no tab. */
export default function ViewList({ drop, views, shown }: ViewListProps) {
  return (
    <DropMenu drop={drop} position="bottom-start" width={260}>
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
    </DropMenu>
  )
}
