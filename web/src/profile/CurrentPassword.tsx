import { PasswordInput } from '@mantine/core'
import { t } from '../text/index.ts'
import type { Draft } from '../ui/use-draft.ts'

/** Asks for the current password. */
export function CurrentPassword<T extends { password: string }>({ draft }: { draft: Draft<T> }) {
  return (
    <PasswordInput
      label={t.profile.currentPassword}
      autoComplete="current-password"
      value={draft.value.password}
      onChange={(event) => draft.set({ password: event.currentTarget.value } as Partial<T>)}
      error={draft.errorOf('password')}
      visibilityToggleButtonProps={{ 'aria-label': t.profile.showPassword }}
      data-autofocus
    />
  )
}
