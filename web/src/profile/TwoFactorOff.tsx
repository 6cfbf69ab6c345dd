import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { endTwoFactor } from '../data/team/profile.ts'
import { refreshSession } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Dialog } from '../ui/overlay/Dialog.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { CurrentPassword } from './CurrentPassword.tsx'

/** Asks for the password and a code, as sign-in does. */
export function TwoFactorOff({ close }: { close(): void }) {
  const texts = t.profile.twoFactor
  const draft = useDraft({ password: '', code: '' })
  const { value, set, errorOf } = draft
  const end = useMutation({
    mutationFn: () => endTwoFactor({ password: value.password, code: value.code.trim() }),
    onSuccess: async ({ csrfToken }) => {
      await refreshSession(csrfToken)
      showToast(texts.isOff)
      close()
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <Dialog close={close} title={texts.title}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          end.mutate()
        }}
        noValidate
      >
        <Stack gap="md">
          <Text size="md">{texts.offHelp}</Text>
          <CurrentPassword draft={draft} />
          <TextInput
            label={texts.code}
            description={texts.offCodeHelp}
            autoComplete="one-time-code"
            maxLength={40}
            value={value.code}
            onChange={(event) => set({ code: event.currentTarget.value })}
            error={errorOf('code')}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              {t.common.cancel}
            </Button>
            <Button type="submit" color="red" loading={end.isPending}>
              {texts.turnOff}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
