import { Select } from '@mantine/core'
import { useState } from 'react'
import { type Endpoint, rotateSecret } from '../../data/webhooks.ts'
import { t } from '../../text/index.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

interface RotateDialogProps {
  endpoint: Endpoint
  close(): void
  onRotated(response: { endpoint: Endpoint; secret: string }): void
}

export function RotateDialog({ endpoint, close, onRotated }: RotateDialogProps) {
  const workspaceId = useWorkspaceId()
  const [hours, setHours] = useState('24')
  const run = () => rotateSecret(workspaceId, endpoint.id, Number(hours)).then(onRotated, showError)
  return (
    <Confirm title={t.webhooks.rotateConfirm} action={t.webhooks.rotate} run={run} close={close}>
      {t.webhooks.rotateHelp}
      <Select
        mt="md"
        label={t.webhooks.rotateOverlap}
        data={Object.entries(t.webhooks.overlaps).map(([value, label]) => ({ value, label }))}
        value={hours}
        onChange={(chosen) => setHours(chosen ?? '24')}
        allowDeselect={false}
      />
    </Confirm>
  )
}
