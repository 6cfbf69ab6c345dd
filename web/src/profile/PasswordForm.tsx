import { Button, PasswordInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { changePassword, sessionsKey } from '../data/team/profile.ts'
import { refreshSession, useSession } from '../session/session.ts'
import { t } from '../text/index.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { Section } from '../ui/page/Section.tsx'
import { useDraft } from '../ui/use-draft.ts'

const blank = { currentPassword: '', password: '' }

export function PasswordForm() {
  const { user } = useSession()
  const hasPassword = user?.hasPassword ?? true
  const queries = useQueryClient()
  const draft = useDraft(blank)
  const { value, set, errorOf } = draft
  const texts = t.profile
  const save = useMutation({
    mutationFn: () => changePassword(value.password, value.currentPassword),
    onSuccess: async ({ csrfToken }) => {
      await refreshSession(csrfToken)
      draft.reset(blank)
      showToast(texts.passwordSaved)
      void queries.invalidateQueries({ queryKey: sessionsKey })
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <Section
      title={texts.password}
      help={hasPassword ? texts.passwordHelp : texts.noPassword}
      submit={() => save.mutate()}
      footer={
        <Button type="submit" disabled={value.password === ''} loading={save.isPending}>
          {hasPassword ? texts.changePassword : texts.setPassword}
        </Button>
      }
    >
      <input type="hidden" name="username" value={user?.email ?? ''} autoComplete="username" />
      {hasPassword && (
        <PasswordInput
          label={texts.currentPassword}
          description={texts.currentPasswordHelp}
          autoComplete="current-password"
          value={value.currentPassword}
          maxLength={256}
          onChange={(event) => set({ currentPassword: event.currentTarget.value })}
          error={errorOf('currentPassword')}
          visibilityToggleButtonProps={{ 'aria-label': texts.showPassword }}
        />
      )}
      <PasswordInput
        label={texts.newPassword}
        description={texts.newPasswordHelp}
        autoComplete="new-password"
        value={value.password}
        maxLength={256}
        onChange={(event) => set({ password: event.currentTarget.value })}
        error={errorOf('password')}
        visibilityToggleButtonProps={{ 'aria-label': texts.showPassword }}
      />
    </Section>
  )
}
