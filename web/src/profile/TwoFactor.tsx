import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { useSession } from '../app/session.ts'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { complain } from '../ui/notices.tsx'
import { Section } from '../ui/Section.tsx'
import { beginTwoFactor } from './queries.ts'
import { RecoveryCodes } from './RecoveryCodes.tsx'
import { TwoFactorOff } from './TwoFactorOff.tsx'

const TwoFactorOn = lazy(() => import('./TwoFactorOn.tsx'))

/** The second step of signing in: a code from the person's phone. */
export function TwoFactor() {
  const isOn = useSession().user?.twoFactor ?? false
  const texts = t.profile.twoFactor
  const [isTurningOff, setTurningOff] = useState(false)
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const begin = useMutation({ mutationFn: beginTwoFactor, onError: complain })
  return (
    <Section
      title={texts.title}
      help={texts.help}
      action={<Chip tone={isOn ? 'good' : 'plain'}>{isOn ? texts.on : texts.off}</Chip>}
      footer={
        isOn ? (
          <Button variant="default" onClick={() => setTurningOff(true)}>
            {texts.turnOff}
          </Button>
        ) : (
          <Button variant="default" loading={begin.isPending} onClick={() => begin.mutate()}>
            {texts.turnOn}
          </Button>
        )
      }
    >
      <Suspense>
        {begin.data !== undefined && !isOn && (
          <TwoFactorOn
            enrolment={begin.data}
            close={begin.reset}
            done={(made) => {
              begin.reset()
              setCodes(made)
            }}
          />
        )}
      </Suspense>
      {isTurningOff && <TwoFactorOff close={() => setTurningOff(false)} />}
      {codes !== null && <RecoveryCodes codes={codes} close={() => setCodes(null)} />}
    </Section>
  )
}
