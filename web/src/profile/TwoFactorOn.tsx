import { Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { confirmTwoFactor } from '../data/team/profile.ts'
import { refreshSession } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Copyable } from '../ui/Copyable.tsx'
import { Dialog } from '../ui/overlay/Dialog.tsx'
import { showError } from '../ui/overlay/toasts.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { QrCode } from '../ui/QrCode.tsx'
import { useDraft } from '../ui/use-draft.ts'

interface TwoFactorOnProps {
  enrolment: { secret: string; uri: string }
  close(): void
  onDone(recoveryCodes: readonly string[]): void
}

/** Shows the QR code, then asks for a code that proves that it was scanned. */
export default function TwoFactorOn({ enrolment, close, onDone }: TwoFactorOnProps) {
  const texts = t.profile.twoFactor
  const draft = useDraft({ code: '' })
  const confirm = useMutation({
    mutationFn: () => confirmTwoFactor(draft.value.code.replace(/\s/g, '')),
    onSuccess: async ({ recoveryCodes, csrfToken }) => {
      onDone(recoveryCodes)
      await refreshSession(csrfToken)
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <Dialog close={close} title={texts.title} closeOnClickOutside={false}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          confirm.mutate()
        }}
        noValidate
      >
        <Stack gap="md">
          <Text size="md">{texts.scan}</Text>
          <Group justify="center">
            <QrCode value={enrolment.uri} label={texts.qr} />
          </Group>
          <div>
            <Text size="sm" c="dimmed" mb={4}>
              {texts.typeInstead}
            </Text>
            <Copyable value={enrolment.secret} label={texts.secret} />
          </div>
          <TextInput
            label={texts.code}
            description={texts.codeHelp}
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={40}
            value={draft.value.code}
            onChange={(event) => draft.set({ code: event.currentTarget.value })}
            error={draft.errorOf('code')}
            data-autofocus
          />
          <Group justify="flex-end" gap="xs">
            <PanelButtons close={close} action={texts.turnOn} isBusy={confirm.isPending} />
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
