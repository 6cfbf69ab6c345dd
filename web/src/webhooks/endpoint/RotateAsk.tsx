import { Select } from '@mantine/core'
import { useState } from 'react'
import { type Endpoint, rotateSecret } from '../../data/webhooks.ts'
import { t } from '../../text/index.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { complain } from '../../ui/overlay/notices.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

interface RotateAskProps {
  endpoint: Endpoint
  close(): void
  rotated(answer: { endpoint: Endpoint; secret: string }): void
}

export function RotateAsk({ endpoint, close, rotated }: RotateAskProps) {
  const workspaceId = useWorkspaceId()
  const [hours, setHours] = useState('24')
  const run = () => rotateSecret(workspaceId, endpoint.id, Number(hours)).then(rotated, complain)
  return (
    <Confirm title={t.webhooks.rotateAsk} action={t.webhooks.rotate} run={run} close={close}>
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
