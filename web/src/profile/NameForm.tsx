import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { renameMe } from '../data/team/profile.ts'
import { refreshSession, useSession } from '../session/session.ts'
import { t } from '../text/index.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { Section } from '../ui/page/Section.tsx'
import { useDraft } from '../ui/use-draft.ts'

export function NameForm() {
  const { user } = useSession()
  const draft = useDraft({ name: user?.name ?? '' })
  const save = useMutation({
    mutationFn: () => renameMe(draft.value.name.trim()),
    onSuccess: async () => {
      const { user: renamed } = await refreshSession()
      draft.reset({ name: renamed?.name ?? '' })
      showToast(t.profile.saved)
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <Section
      title={t.profile.you}
      submit={() => save.mutate()}
      footer={
        <Button type="submit" disabled={!draft.isChanged} loading={save.isPending}>
          {t.common.save}
        </Button>
      }
    >
      <TextInput
        label={t.profile.name}
        description={t.profile.nameHelp}
        value={draft.value.name}
        maxLength={100}
        autoComplete="name"
        onChange={(event) => draft.set({ name: event.currentTarget.value })}
        error={draft.errorOf('name')}
      />
      <TextInput
        label={t.profile.email}
        description={t.profile.emailHelp}
        value={user?.email ?? ''}
        variant="filled"
        readOnly
      />
    </Section>
  )
}
