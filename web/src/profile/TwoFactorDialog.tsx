import { Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { beginTwoFactor } from '../data/team/profile.ts'
import { t } from '../text/index.ts'
import { Dialog } from '../ui/overlay/Dialog.tsx'
import { showError } from '../ui/overlay/toasts.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { CurrentPassword } from './CurrentPassword.tsx'

export type Enrolment = Awaited<ReturnType<typeof beginTwoFactor>>

/** Asks for the password: an unattended browser must not be enough to lock its owner out. */
export function TwoFactorDialog({ close, onStarted }: { close(): void; onStarted(enrolment: Enrolment): void }) {
  const texts = t.profile.twoFactor
  const draft = useDraft({ password: '' })
  const begin = useMutation({
    mutationFn: () => beginTwoFactor(draft.value.password),
    onSuccess: onStarted,
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <Dialog close={close} title={texts.confirmTitle}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          begin.mutate()
        }}
        noValidate
      >
        <Stack gap="md">
          <Text size="md">{texts.confirmHelp}</Text>
          <CurrentPassword draft={draft} />
          <Group justify="flex-end" gap="xs">
            <PanelButtons close={close} action={texts.continue} isBusy={begin.isPending} />
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
