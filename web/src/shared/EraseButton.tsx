import { Button } from '@mantine/core'
import { Suspense, useState } from 'react'
import type { CustomerName } from '../data/erasures.ts'
import { mayIn } from '../session/session.ts'
import { t, withTexts } from '../text/index.ts'
import { KeysHeld } from '../ui/overlay/keys-held.ts'
import { whenWanted } from '../ui/overlay/later.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

const EraseAsk = whenWanted(() => withTexts(() => import('./EraseAsk.tsx')))

interface EraseButtonProps {
  name: CustomerName
  done?: () => void
}

/** Begins to erase a customer; for admins, whom it asks first. */
export function EraseButton({ name, done }: EraseButtonProps) {
  const workspaceId = useWorkspaceId()
  const [asks, setAsks] = useState(false)
  if (!mayIn(workspaceId, 'admin')) return null
  return (
    <>
      <Button variant="subtle" color="red" size="compact-sm" onClick={() => setAsks(true)}>
        {t.customer.erase}
      </Button>
      {asks && (
        <Suspense fallback={<KeysHeld />}>
          <EraseAsk name={name} close={() => setAsks(false)} {...(done && { done })} />
        </Suspense>
      )}
    </>
  )
}
