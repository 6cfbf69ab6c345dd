import { Button } from '@mantine/core'
import { Suspense, useState } from 'react'
import type { CustomerName } from '../data/erasures.ts'
import { hasRole } from '../session/session.ts'
import { t, withTexts } from '../text/index.ts'
import { lazyComponent } from '../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../ui/overlay/shortcuts-blocked.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

const EraseDialog = lazyComponent(() => withTexts(() => import('./EraseDialog.tsx')))

/** Starts erasing a customer, after confirmation; for admins. */
export function EraseButton({ name, onDone }: { name: CustomerName; onDone?: () => void }) {
  const workspaceId = useWorkspaceId()
  const [isConfirming, setConfirming] = useState(false)
  if (!hasRole(workspaceId, 'admin')) return null
  return (
    <>
      <Button variant="subtle" color="red" size="compact-sm" onClick={() => setConfirming(true)}>
        {t.customer.erase}
      </Button>
      {isConfirming && (
        <Suspense fallback={<ShortcutsBlocked />}>
          <EraseDialog name={name} close={() => setConfirming(false)} {...(onDone && { onDone })} />
        </Suspense>
      )}
    </>
  )
}
