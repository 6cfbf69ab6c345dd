import { Button, Stack } from '@mantine/core'
import type { CreatedConnection } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { Copyable } from '../../ui/Copyable.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { StateChip } from '../parts/facts.tsx'
import { HealthAdvice } from '../parts/HealthAdvice.tsx'
import styles from './forms.module.css'

interface WebhookToPasteProps {
  created: CreatedConnection
  webhook: NonNullable<CreatedConnection['webhook']>
  onDone(): void
}

/** Result of the check, and the two values to paste into the platform's settings. The token is shown only once. */
export function WebhookToPaste({ created: { connection }, webhook, onDone }: WebhookToPasteProps) {
  const { paste } = t.connections
  return (
    <SidePanel title={connection.name} close={onDone} footer={<Button onClick={onDone}>{paste.done}</Button>}>
      <StateChip connection={connection} withReason />
      {connection.state === 'active' ? (
        <p className={styles.help}>{paste.answered}</p>
      ) : (
        <HealthAdvice connection={connection} />
      )}
      <p className={styles.help}>{paste.help}</p>
      <Stack gap={4}>
        <strong>{paste.url}</strong>
        <Copyable value={webhook.url} label={paste.url} />
      </Stack>
      <Stack gap={4}>
        <strong>{paste.token}</strong>
        <Copyable value={webhook.verifyToken} label={paste.token} />
        <span className={styles.help}>{paste.once}</span>
      </Stack>
      <p className={styles.help}>{paste.subscribe}</p>
    </SidePanel>
  )
}
