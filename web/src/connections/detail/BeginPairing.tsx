import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useConnectionActs } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { complain } from '../../ui/overlay/notices.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './detail.module.css'

interface BeginPairingProps {
  connectionId: string
  /** A phone is linked: another code unlinks it. */
  isAnew: boolean
}

/** Asks for something to link a phone by: a QR code, or letters where the camera cannot see the screen. */
export function BeginPairing({ connectionId, isAnew }: BeginPairingProps) {
  const workspaceId = useWorkspaceId()
  const { pair } = useConnectionActs(workspaceId)
  const [byCode, setByCode] = useState(false)
  const draft = useDraft({ phone: '' })
  const begin = useMutation({
    mutationFn: (wish: Parameters<typeof pair>[1]) => pair(connectionId, wish),
    onError: (error) => draft.refuse(error) || complain(error),
  })
  const { showQr, byLetters, phone, phoneHelp, getLetters, anew } = t.connections.session
  if (byCode)
    return (
      <form
        className={styles.inline}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          begin.mutate({ method: 'code', phone: draft.value.phone })
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
          <Button type="submit" loading={begin.isPending}>
            {getLetters}
          </Button>
          <Button variant="default" onClick={() => setByCode(false)}>
            {t.common.back}
          </Button>
        </div>
      </form>
    )
  return (
    <div className={styles.actions}>
      <Button onClick={() => begin.mutate({ method: 'qr' })} loading={begin.isPending}>
        {isAnew ? anew : showQr}
      </Button>
      <Button variant="default" onClick={() => setByCode(true)}>
        {byLetters}
      </Button>
    </div>
  )
}
