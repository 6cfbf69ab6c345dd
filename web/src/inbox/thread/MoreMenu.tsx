import { Menu } from '@mantine/core'
import { t } from '../../text/index.ts'
import { DropMenu } from '../../ui/overlay/DropMenu.tsx'
import type { Drop } from '../../ui/overlay/drop.tsx'

interface MoreMenuProps {
  drop: Drop
  choose(menu: 'assign' | 'label' | 'snooze'): void
  unread: string
  toggleUnread(): void
}

/** On a phone, what the header has no room for. */
export default function MoreMenu({ drop, choose, unread, toggleUnread }: MoreMenuProps) {
  const { actions } = t.inbox
  return (
    <DropMenu drop={drop} position="bottom-end" width={220} withInitialFocusPlaceholder={false}>
      {(['assign', 'label', 'snooze'] as const).map((menu) => (
        <Menu.Item key={menu} onClick={() => choose(menu)}>
          {actions[menu]}
        </Menu.Item>
      ))}
      <Menu.Item onClick={toggleUnread}>{unread}</Menu.Item>
    </DropMenu>
  )
}
