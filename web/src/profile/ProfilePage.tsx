import { Button, PasswordInput, Radio, Select, Stack, Switch, TextInput, useMantineColorScheme } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import {
  changePassword,
  type DeviceSession,
  endOtherSessions,
  endSession,
  renameMe,
  sessionsKey,
  useSessions,
} from '../data/team/profile.ts'
import { refreshSession, signOut, useSession } from '../session/session.ts'
import { chooseLanguage, language, t } from '../text/index.ts'
import { type Language, languages } from '../text/languages.ts'
import { Chip } from '../ui/Chip.tsx'
import { formatDateTime, timeAgo } from '../ui/format/time.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { Section, SectionTitle } from '../ui/page/Section.tsx'
import { enterSends, opensNext, useStoredToggle } from '../ui/stored-toggles.ts'
import { useDraft } from '../ui/use-draft.ts'
import { useListChange } from '../ui/use-list-change.ts'
import { Identities } from './Identities.tsx'
import { NotificationPreferences } from './NotificationPreferences.tsx'
import styles from './Sessions.module.css'
import { TwoFactor } from './TwoFactor.tsx'

/** Settings of the person, the same in all workspaces. */
export function ProfilePage() {
  return (
    <>
      <PageHeader title={t.common.pages.profile} />
      <PageBody narrow>
        <SectionTitle value="h2">
          <NameForm />
          <Preferences />
          <NotificationPreferences />
          <PasswordForm />
          <TwoFactor />
          <Identities />
          <Sessions />
        </SectionTitle>
      </PageBody>
    </>
  )
}

function NameForm() {
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

/** Preferences of this browser; applied at once. */
function Preferences() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Section title={t.profile.preferences} help={t.profile.preferencesHelp}>
      <Select
        label={t.common.language}
        w={260}
        data={Object.entries(languages).map(([value, label]) => ({ value, label }))}
        value={language}
        onChange={(chosen) => chosen !== null && chosen !== language && chooseLanguage(chosen as Language)}
        allowDeselect={false}
      />
      <Radio.Group
        label={t.common.appearance}
        value={colorScheme}
        onChange={(chosen) => setColorScheme(chosen as typeof colorScheme)}
      >
        <Stack gap={6} mt={4}>
          {(['light', 'dark', 'auto'] as const).map((one) => (
            <Radio key={one} value={one} label={t.common.appearances[one]} />
          ))}
        </Stack>
      </Radio.Group>
      <Switch
        label={t.profile.enterSends}
        description={t.profile.enterSendsHelp}
        checked={useStoredToggle(enterSends)}
        onChange={(event) => enterSends.set(event.currentTarget.checked)}
      />
      <Switch
        label={t.profile.opensNext}
        description={t.profile.opensNextHelp}
        checked={useStoredToggle(opensNext)}
        onChange={(event) => opensNext.set(event.currentTarget.checked)}
      />
    </Section>
  )
}

const blank = { currentPassword: '', password: '' }

function PasswordForm() {
  const { user } = useSession()
  const hasPassword = user?.hasPassword ?? true
  const queries = useQueryClient()
  const draft = useDraft(blank)
  const { value, set, errorOf } = draft
  const texts = t.profile
  const field = (name: keyof typeof blank) => ({
    value: value[name],
    maxLength: 256,
    onChange: (event: { currentTarget: { value: string } }) => set({ [name]: event.currentTarget.value }),
    error: errorOf(name),
    visibilityToggleButtonProps: { 'aria-label': texts.showPassword },
  })
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
          {...field('currentPassword')}
        />
      )}
      <PasswordInput
        label={texts.newPassword}
        description={texts.newPasswordHelp}
        autoComplete="new-password"
        {...field('password')}
      />
    </Section>
  )
}

/** Sessions of the person. */
function Sessions() {
  const texts = t.profile.sessions
  const query = useSessions()
  const change = useListChange<DeviceSession>(sessionsKey)
  const end = ({ id }: DeviceSession) =>
    void change(
      (list) => list.filter((one) => one.id !== id),
      () => endSession(id),
    )
  const endOthers = () =>
    void change(
      (list) => list.filter((one) => one.current),
      async () => showToast(texts.othersEnded({ count: (await endOtherSessions()).ended })),
    )
  const hasOthers = query.data?.some((one) => !one.current) ?? false
  return (
    <Section
      title={texts.title}
      help={texts.help}
      footer={
        hasOthers && (
          <Button variant="light" color="red" onClick={endOthers}>
            {texts.endOthers}
          </Button>
        )
      }
    >
      <QueryBoundary query={query} rows={2}>
        {(sessions) => (
          <ul className={styles.list} aria-label={texts.title}>
            {sessions.map((one) => (
              <li key={one.id} className={styles.row}>
                <div className={styles.text}>
                  <strong>
                    {one.device} {one.current && <Chip tone="accent">{texts.current}</Chip>}
                  </strong>
                  <span title={formatDateTime(one.lastSeenAt)}>
                    {texts.by[one.signedInBy]} · {texts.seen({ ago: timeAgo(one.lastSeenAt) })}
                  </span>
                </div>
                <Button
                  size="compact-sm"
                  variant="subtle"
                  color="red"
                  aria-label={one.current ? t.common.signOut : texts.endOf({ device: one.device })}
                  onClick={() => (one.current ? void signOut().catch(showError) : end(one))}
                >
                  {one.current ? t.common.signOut : texts.end}
                </Button>
              </li>
            ))}
          </ul>
        )}
      </QueryBoundary>
    </Section>
  )
}
