import { Button, Stack } from '@mantine/core'
import type { CreatedConnection } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { Copyable } from '../../ui/Copyable.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { StateChip } from '../parts/facts.tsx'
import { HealthAdvice } from '../parts/HealthAdvice.tsx'
import styles from './forms.module.css'

interface WebhookSetupProps {
  created: CreatedConnection
  webhook: NonNullable<CreatedConnection['webhook']>
  onDone(): void
}

/** Result of the check, and the two values to paste into the platform's settings. The token is shown only once. */
export function WebhookSetup({ created: { connection }, webhook, onDone }: WebhookSetupProps) {
  const { webhookSetup } = t.connections
  return (
    <SidePanel title={connection.name} close={onDone} footer={<Button onClick={onDone}>{webhookSetup.done}</Button>}>
      <StateChip connection={connection} withReason />
      {connection.state === 'active' ? (
        <p className={styles.help}>{webhookSetup.answered}</p>
      ) : (
        <HealthAdvice connection={connection} />
      )}
      <p className={styles.help}>{webhookSetup.help}</p>
      <Stack gap={4}>
        <strong>{webhookSetup.url}</strong>
        <Copyable value={webhook.url} label={webhookSetup.url} />
      </Stack>
      <Stack gap={4}>
        <strong>{webhookSetup.token}</strong>
        <Copyable value={webhook.verifyToken} label={webhookSetup.token} />
        <span className={styles.help}>{webhookSetup.once}</span>
      </Stack>
      <p className={styles.help}>{webhookSetup.subscribe}</p>
    </SidePanel>
  )
}
