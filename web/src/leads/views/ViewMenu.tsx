import { ActionIcon } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { Suspense, useState } from 'react'
import { t, withTexts } from '../../text/index.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../../ui/overlay/shortcuts-blocked.ts'
import type { View, Views } from './use-views.ts'

const NameView = prefetchedComponent(() => withTexts(() => import('./NameView.tsx')))
const ViewMenuItems = prefetchedComponent(() => withTexts(() => import('./ViewMenuItems.tsx')))

/** Menu of the open view. */
export function ViewMenu({ view, views }: { view: View; views: Views }) {
  const [isNaming, setNaming] = useState(false)
  const dropdown = useDropdown(...useState(false))
  return (
    <>
      <ActionIcon
        {...dropdownButtonProps(dropdown, 'menu')}
        variant="subtle"
        color="gray"
        size={22}
        aria-label={t.views.menu({ name: view.name })}
      >
        <IconDots size={14} />
      </ActionIcon>
      <DropdownContent dropdown={dropdown}>
        <ViewMenuItems {...{ dropdown, view, views }} name={() => setNaming(true)} />
      </DropdownContent>
      {isNaming && (
        <Suspense fallback={<ShortcutsBlocked />}>
          <NameView
            title={t.views.rename}
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
