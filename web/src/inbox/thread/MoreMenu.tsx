import { Menu } from '@mantine/core'
import { t } from '../../text/index.ts'
import { DropdownMenu } from '../../ui/overlay/DropdownMenu.tsx'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'

interface MoreMenuProps {
  dropdown: Dropdown
  choose(menu: 'assign' | 'label' | 'snooze' | 'macro'): void
  unread: string
  toggleUnread(): void
  /** Null while the conversation is not resolved. */
  makeArticle: (() => void) | null
}

/** Actions without space in the header on phones, and those that are rarely needed. */
export default function MoreMenu({ dropdown, choose, unread, toggleUnread, makeArticle }: MoreMenuProps) {
  const { actions } = t.inbox
  return (
    <DropdownMenu dropdown={dropdown} position="bottom-end" width={220} withInitialFocusPlaceholder={false}>
      {(['assign', 'label', 'snooze', 'macro'] as const).map((menu) => (
        <Menu.Item key={menu} onClick={() => choose(menu)}>
          {actions[menu]}
        </Menu.Item>
      ))}
      <Menu.Item onClick={toggleUnread}>{unread}</Menu.Item>
      {makeArticle !== null && <Menu.Item onClick={makeArticle}>{t.articles.make}</Menu.Item>}
    </DropdownMenu>
  )
}
