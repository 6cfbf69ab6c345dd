import { Button, CopyButton, Group, Stack, Text } from '@mantine/core'
import { Suspense, useState } from 'react'
import { beginTwoFactor, endTwoFactor } from '../data/team/profile.ts'
import { refreshSession, useSession } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { Dialog } from '../ui/overlay/Dialog.tsx'
import { lazyComponent } from '../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../ui/overlay/shortcuts-blocked.ts'
import { showToast } from '../ui/overlay/toasts.tsx'
import { Section } from '../ui/page/Section.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { CodeField, CurrentPassword, DialogForm } from './DialogForm.tsx'
import styles from './RecoveryCodes.module.css'

const TwoFactorOn = lazyComponent(() => import('./TwoFactorOn.tsx'))

type Enrolment = Awaited<ReturnType<typeof beginTwoFactor>>

/** Two-factor authentication with codes of an authenticator app. */
export function TwoFactor() {
  const user = useSession().user
  const isOn = user?.twoFactor ?? false
  const hasPassword = user?.hasPassword ?? true
  const texts = t.profile.twoFactor
  const [dialog, setDialog] = useState<'on' | 'off' | null>(null)
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null)
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  return (
    <Section
      title={texts.title}
      help={isOn || hasPassword ? texts.help : texts.passwordFirst}
      action={<Chip tone={isOn ? 'good' : 'plain'}>{isOn ? texts.on : texts.off}</Chip>}
      footer={
        <Button variant="default" disabled={!hasPassword} onClick={() => setDialog(isOn ? 'off' : 'on')}>
          {isOn ? texts.turnOff : texts.turnOn}
        </Button>
      }
    >
      {dialog === 'on' && (
        <StartDialog
          close={() => setDialog(null)}
          onStarted={(result) => {
            setDialog(null)
            setEnrolment(result)
          }}
        />
      )}
      <Suspense fallback={<ShortcutsBlocked />}>
        {enrolment !== null && !isOn && (
          <TwoFactorOn
            enrolment={enrolment}
            close={() => setEnrolment(null)}
            onDone={(result) => {
              setEnrolment(null)
              setCodes(result)
            }}
          />
        )}
      </Suspense>
      {dialog === 'off' && <EndDialog close={() => setDialog(null)} />}
      {codes !== null && <RecoveryCodes codes={codes} close={() => setCodes(null)} />}
    </Section>
  )
}

/** Asks for the password: an unattended browser must not be enough to lock its owner out. */
function StartDialog({ close, onStarted }: { close(): void; onStarted(enrolment: Enrolment): void }) {
  const texts = t.profile.twoFactor
  const draft = useDraft({ password: '' })
  return (
    <DialogForm
      draft={draft}
      send={({ password }) => beginTwoFactor(password)}
      done={onStarted}
      title={texts.confirmTitle}
      help={texts.confirmHelp}
      action={texts.continue}
      close={close}
    >
      <CurrentPassword draft={draft} />
    </DialogForm>
  )
}

/** Asks for the password and a code, as sign-in does. */
function EndDialog({ close }: { close(): void }) {
  const texts = t.profile.twoFactor
  const draft = useDraft({ password: '', code: '' })
  return (
    <DialogForm
      draft={draft}
      send={({ password, code }) => endTwoFactor({ password, code: code.trim() })}
      done={async ({ csrfToken }) => {
        await refreshSession(csrfToken)
        showToast(texts.isOff)
        close()
      }}
      title={texts.title}
      help={texts.offHelp}
      action={texts.turnOff}
      isDanger
      close={close}
    >
      <CurrentPassword draft={draft} />
      <CodeField draft={draft} help={texts.offCodeHelp} />
    </DialogForm>
  )
}

/** Shows the recovery codes, once. Only its button closes it. */
function RecoveryCodes({ codes, close }: { codes: readonly string[]; close(): void }) {
  const texts = t.profile.twoFactor
  return (
    <Dialog
      close={close}
      title={texts.recovery}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        <Text size="md">{texts.recoveryHelp}</Text>
        <ul className={styles.codes} aria-label={texts.recovery}>
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
        <Group justify="flex-end" gap="xs">
          <CopyButton value={codes.join('\n')}>
            {({ copied, copy }) => (
              <Button variant="default" onClick={copy}>
                {copied ? t.common.copied : texts.copyAll}
              </Button>
            )}
          </CopyButton>
          <Button onClick={close} data-autofocus>
            {texts.savedIt}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
