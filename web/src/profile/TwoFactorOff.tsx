import { Button, Group, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { refreshSession, useSession } from '../app/session.ts'
import { t } from '../text/index.ts'
import { complain, say } from '../ui/notices.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { endTwoFactor } from './queries.ts'

/** Asks for the password, or for a code from who has none. */
export function TwoFactorOff({ close }: { close(): void }) {
  const texts = t.profile.twoFactor
  const hasPassword = useSession().user?.hasPassword ?? true
  const draft = useDraft({ password: '', code: '' })
  const { value, set, errorOf } = draft
  const end = useMutation({
    mutationFn: () => endTwoFactor(hasPassword ? { password: value.password } : { code: value.code.trim() }),
    onSuccess: async ({ csrfToken }) => {
      await refreshSession(csrfToken)
      say(texts.isOff)
      close()
    },
    onError: (error) => draft.refuse(error) || complain(error),
  })
  return (
    <Modal opened onClose={close} title={texts.turnOff} closeButtonProps={{ 'aria-label': t.common.close }}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          end.mutate()
        }}
        noValidate
      >
        <Stack gap="md">
          <Text size="md">{texts.offHelp}</Text>
          {hasPassword ? (
            <PasswordInput
              label={t.profile.currentPassword}
              autoComplete="current-password"
              value={value.password}
              onChange={(event) => set({ password: event.currentTarget.value })}
              error={errorOf('password')}
              visibilityToggleButtonProps={{ 'aria-label': t.profile.showPassword }}
              data-autofocus
            />
          ) : (
            <TextInput
              label={texts.code}
              inputMode="numeric"
              autoComplete="one-time-code"
              value={value.code}
              onChange={(event) => set({ code: event.currentTarget.value })}
              error={errorOf('code')}
              data-autofocus
            />
          )}
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
    </Modal>
  )
}
