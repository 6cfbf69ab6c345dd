import { Menu } from '@mantine/core'
import { t } from '../../text/index.ts'
import { DropdownMenu } from '../../ui/overlay/DropdownMenu.tsx'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import type { View, Views } from './use-views.ts'

interface ViewMenuItemsProps {
  dropdown: Dropdown
  view: View
  views: Views
  name(): void
}

/** Menu of a view. */
export default function ViewMenuItems({ dropdown, view, views, name }: ViewMenuItemsProps) {
  const mayChange = views.mayChange(view)
  const at = views.all.findIndex(({ id }) => id === view.id)
  const words = t.views
  const item = (label: string, run: () => Promise<void>, isOff = false) => (
    <Menu.Item disabled={isOff} onClick={() => void run().catch(showError)}>
      {label}
    </Menu.Item>
  )
  return (
    <DropdownMenu dropdown={dropdown} position="bottom-start">
      {mayChange && <Menu.Item onClick={name}>{words.rename}</Menu.Item>}
      {views.mayShare && item(view.shared ? words.unshare : words.share, () => views.share(view, !view.shared))}
      {item(words.duplicate, () => views.duplicate(view))}
      <Menu.Divider />
      {item(words.moveLeft, () => views.move(view, -1), at === 0)}
      {item(words.moveRight, () => views.move(view, 1), at === views.all.length - 1)}
      {mayChange && <Menu.Divider />}
      {mayChange && item(words.delete, () => views.remove(view))}
    </DropdownMenu>
  )
}
