import { ActionIcon, Menu } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { Suspense, useState } from 'react'
import { t } from '../../text/index.ts'
import { later } from '../../ui/overlay/later.ts'
import { complain } from '../../ui/overlay/notices.tsx'
import type { View, Views } from './use-views.ts'

const NameView = later(async () => ({ default: (await import('./NameView.tsx')).NameView }))

/** What can be done with the view that is open. */
export function ViewMenu({ view, views }: { view: View; views: Views }) {
  const [isNaming, setNaming] = useState(false)
  const mayChange = views.mayChange(view)
  const at = views.all.findIndex(({ id }) => id === view.id)
  const words = t.views
  const item = (label: string, run: () => Promise<void>, isOff = false) => (
    <Menu.Item disabled={isOff} onClick={() => void run().catch(complain)}>
      {label}
    </Menu.Item>
  )
  return (
    <>
      <Menu position="bottom-start" withinPortal>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size={22} aria-label={words.menu(view.name)}>
            <IconDots size={14} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {mayChange && <Menu.Item onClick={() => setNaming(true)}>{words.rename}</Menu.Item>}
          {views.mayShare && item(view.shared ? words.unshare : words.share, () => views.share(view, !view.shared))}
          {item(words.duplicate, () => views.duplicate(view))}
          <Menu.Divider />
          {item(words.moveLeft, () => views.move(view, -1), at === 0)}
          {item(words.moveRight, () => views.move(view, 1), at === views.all.length - 1)}
          {mayChange && <Menu.Divider />}
          {mayChange && item(words.delete, () => views.remove(view))}
        </Menu.Dropdown>
      </Menu>
      {isNaming && (
        <Suspense>
          <NameView
            title={words.rename}
            name={view.name}
            mayShare={false}
            save={({ name }) => views.rename(view, name)}
            close={() => setNaming(false)}
          />
        </Suspense>
      )}
    </>
  )
}
