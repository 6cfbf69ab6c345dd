import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useConnectionActions } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './detail.module.css'

interface StartPairingProps {
  connectionId: string
  /** Whether a phone is linked already: a new code unlinks it. */
  isRepairing: boolean
}

/** Starts pairing by QR code, or by letters where the camera cannot scan the screen. */
export function StartPairing({ connectionId, isRepairing }: StartPairingProps) {
  const workspaceId = useWorkspaceId()
  const { pair } = useConnectionActions(workspaceId)
  const [byCode, setByCode] = useState(false)
  const draft = useDraft({ phone: '' })
  const start = useMutation({
    mutationFn: (input: Parameters<typeof pair>[1]) => pair(connectionId, input),
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const { showQr, byCode: byCodeLabel, phone, phoneHelp, getCode, newCode } = t.connections.session
  if (byCode)
    return (
      <form
        className={styles.inline}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          start.mutate({ method: 'code', phone: draft.value.phone })
        }}
      >
        <TextInput
          label={phone}
          description={phoneHelp}
          type="tel"
          value={draft.value.phone}
          onChange={(event) => draft.set({ phone: event.currentTarget.value })}
          error={draft.errorOf('phone')}
          data-autofocus
        />
        <div className={styles.actions}>
          <Button type="submit" loading={start.isPending}>
            {getCode}
          </Button>
          <Button variant="default" onClick={() => setByCode(false)}>
            {t.common.back}
          </Button>
        </div>
      </form>
    )
  return (
    <div className={styles.actions}>
      <Button onClick={() => start.mutate({ method: 'qr' })} loading={start.isPending}>
        {isRepairing ? newCode : showQr}
      </Button>
      <Button variant="default" onClick={() => setByCode(true)}>
        {byCodeLabel}
      </Button>
    </div>
  )
}
