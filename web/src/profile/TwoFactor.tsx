import { Button } from '@mantine/core'
import { Suspense, useState } from 'react'
import { useSession } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { lazyComponent } from '../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../ui/overlay/shortcuts-blocked.ts'
import { Section } from '../ui/page/Section.tsx'
import { RecoveryCodes } from './RecoveryCodes.tsx'
import { type Enrolment, TwoFactorDialog } from './TwoFactorDialog.tsx'
import { TwoFactorOff } from './TwoFactorOff.tsx'

const TwoFactorOn = lazyComponent(() => import('./TwoFactorOn.tsx'))

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
        <TwoFactorDialog
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
      {dialog === 'off' && <TwoFactorOff close={() => setDialog(null)} />}
      {codes !== null && <RecoveryCodes codes={codes} close={() => setCodes(null)} />}
    </Section>
  )
}
