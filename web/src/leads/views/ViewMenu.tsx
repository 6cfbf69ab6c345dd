import { ActionIcon } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { Suspense, useState } from 'react'
import { t, withTexts } from '../../text/index.ts'
import { Dropped, dropButton, useDrop } from '../../ui/overlay/drop.tsx'
import { KeysHeld } from '../../ui/overlay/keys-held.ts'
import { later } from '../../ui/overlay/later.ts'
import type { View, Views } from './use-views.ts'

const NameView = later(() => withTexts(() => import('./NameView.tsx')))
const ViewItems = later(() => withTexts(() => import('./ViewItems.tsx')))

/** What can be done with the view that is open. */
export function ViewMenu({ view, views }: { view: View; views: Views }) {
  const [isNaming, setNaming] = useState(false)
  const drop = useDrop(...useState(false))
  return (
    <>
      <ActionIcon
        {...dropButton(drop, 'menu')}
        variant="subtle"
        color="gray"
        size={22}
        aria-label={t.views.menu({ name: view.name })}
      >
        <IconDots size={14} />
      </ActionIcon>
      <Dropped drop={drop}>
        <ViewItems {...{ drop, view, views }} name={() => setNaming(true)} />
      </Dropped>
      {isNaming && (
        <Suspense fallback={<KeysHeld />}>
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
