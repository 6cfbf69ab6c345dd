import { Button, Group, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  createScimToken,
  deleteProvider,
  deleteScimToken,
  forceProvider,
  type IdentityProvider,
  providersKey,
  testProvider,
} from '../../data/team/sso.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { formatDateTime } from '../../ui/format/time.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { TokenDialog } from '../parts/TokenDialog.tsx'
import { Addresses } from './Addresses.tsx'

/** A provider with its state, and what can be done with it. */
export function ProviderCard({ provider, edit }: { provider: IdentityProvider; edit(): void }) {
  const texts = t.settings.sso
  const queries = useQueryClient()
  const [asking, setAsking] = useState<'remove' | 'require' | null>(null)
  const [token, setToken] = useState<string | null>(null)
  const { id, name, issuer, isEnabled, isForced, test, scimTokenAt } = provider
  /** Runs a change, shows what it says and loads the providers again. */
  const run = async (change: () => Promise<string | null>) => {
    try {
      const said = await change()
      setAsking(null)
      if (said !== null) showToast(said)
      await queries.invalidateQueries({ queryKey: providersKey })
    } catch (error) {
      showError(error)
    }
  }
  const startTest = () => testProvider(id).then((url) => window.location.assign(url), showError)
  const createToken = async () => {
    setToken(await createScimToken(id))
    return null
  }
  const require = (isOn: boolean) =>
    run(async () => {
      const count = await forceProvider(id, isOn)
      return isOn ? texts.required({ count }) : texts.notRequired
    })
  return (
    <Section
      title={name}
      help={issuer}
      action={
        <Group gap={6}>
          {!isEnabled && <Chip>{texts.off}</Chip>}
          {isForced && <Chip tone="accent">{texts.forced}</Chip>}
          <Chip tone={test?.problem === null ? 'good' : 'attention'}>
            {test?.problem === null ? texts.tested : texts.untested}
          </Chip>
        </Group>
      }
      footer={
        <Group gap="xs">
          <Button variant="default" onClick={edit}>
            {texts.edit}
          </Button>
          <Button variant="default" title={texts.testHelp} onClick={() => void startTest()}>
            {texts.test}
          </Button>
          <Button variant="default" onClick={() => (isForced ? void require(false) : setAsking('require'))}>
            {isForced ? texts.requireOff : texts.require}
          </Button>
          <Button variant="default" onClick={() => void run(createToken)}>
            {scimTokenAt === null ? texts.scimToken : texts.scimReplace}
          </Button>
          {scimTokenAt !== null && (
            <Button
              variant="subtle"
              color="red"
              onClick={() => void run(() => deleteScimToken(id).then(() => texts.scimRevoked))}
            >
              {texts.scimRevoke}
            </Button>
          )}
          <Button variant="subtle" color="red" onClick={() => setAsking('remove')}>
            {texts.remove}
          </Button>
        </Group>
      }
    >
      <Stack gap="sm">
        <TestResult test={test} />
        {scimTokenAt !== null && <Text>{texts.scimSince({ at: formatDateTime(scimTokenAt) })}</Text>}
        <Addresses {...provider} />
      </Stack>
      {asking === 'remove' && (
        <Confirm
          title={texts.removeOf({ name })}
          action={texts.remove}
          confirmText={name}
          run={() => run(() => deleteProvider(id).then(() => texts.removed({ name })))}
          close={() => setAsking(null)}
        >
          {texts.removeHelp}
        </Confirm>
      )}
      {asking === 'require' && (
        <Confirm
          title={texts.requireTitle({ name })}
          action={texts.require}
          run={() => require(true)}
          close={() => setAsking(null)}
        >
          {texts.requireHelp}
        </Confirm>
      )}
      {token !== null && <ScimToken name={name} value={token} close={() => setToken(null)} />}
    </Section>
  )
}

function TestResult({ test }: Pick<IdentityProvider, 'test'>) {
  const texts = t.settings.sso
  if (test === null) return null
  const { at, problem, email, isVerified, groups } = test
  if (problem !== null) return <Text c="var(--bad)">{texts.testFailed({ problem })}</Text>
  const shown = email === null ? texts.noEmail : isVerified ? email : texts.unverified({ email })
  return (
    <Text>
      {texts.testWorked({ at: formatDateTime(at) })}.{' '}
      {texts.testPerson({ email: shown, groups: groups.length === 0 ? texts.noGroups : groups.join(', ') })}
    </Text>
  )
}

function ScimToken({ name, ...token }: { name: string; value: string; close(): void }) {
  const { scimTitle, scimHelp, scimValue, savedIt } = t.settings.sso
  return <TokenDialog title={scimTitle({ name })} help={scimHelp} label={scimValue} action={savedIt} {...token} />
}
