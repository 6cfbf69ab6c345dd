import { Button } from '@mantine/core'
import { Suspense, useState } from 'react'
import { useSession } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { KeysHeld } from '../ui/overlay/keys-held.ts'
import { whenWanted } from '../ui/overlay/later.ts'
import { Section } from '../ui/page/Section.tsx'
import { RecoveryCodes } from './RecoveryCodes.tsx'
import { type Enrolment, TwoFactorAsk } from './TwoFactorAsk.tsx'
import { TwoFactorOff } from './TwoFactorOff.tsx'

const TwoFactorOn = whenWanted(() => import('./TwoFactorOn.tsx'))

/** The second step of signing in: a code from the person's phone. */
export function TwoFactor() {
  const user = useSession().user
  const isOn = user?.twoFactor ?? false
  const hasPassword = user?.hasPassword ?? true
  const texts = t.profile.twoFactor
  const [asks, setAsks] = useState<'on' | 'off' | null>(null)
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null)
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  return (
    <Section
      title={texts.title}
      help={isOn || hasPassword ? texts.help : texts.passwordFirst}
      action={<Chip tone={isOn ? 'good' : 'plain'}>{isOn ? texts.on : texts.off}</Chip>}
      footer={
        <Button variant="default" disabled={!hasPassword} onClick={() => setAsks(isOn ? 'off' : 'on')}>
          {isOn ? texts.turnOff : texts.turnOn}
        </Button>
      }
    >
      {asks === 'on' && (
        <TwoFactorAsk
          close={() => setAsks(null)}
          begun={(made) => {
            setAsks(null)
            setEnrolment(made)
          }}
        />
      )}
      <Suspense fallback={<KeysHeld />}>
        {enrolment !== null && !isOn && (
          <TwoFactorOn
            enrolment={enrolment}
            close={() => setEnrolment(null)}
            done={(made) => {
              setEnrolment(null)
              setCodes(made)
            }}
          />
        )}
      </Suspense>
      {asks === 'off' && <TwoFactorOff close={() => setAsks(null)} />}
      {codes !== null && <RecoveryCodes codes={codes} close={() => setCodes(null)} />}
    </Section>
  )
}
