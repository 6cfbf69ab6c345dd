import { TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { readSignInMethods, type SignInStep, signIn, signInWithCode, signInWithLink } from '../data/team/sign-in.ts'
import { t } from '../text/index.ts'
import { EntryCard } from './EntryCard.tsx'
import { Form } from './Form.tsx'
import { MailChoices, MailLink } from './MailLink.tsx'
import { safeNext } from './next.ts'
import { ProviderButtons, SsoProblem } from './ProviderButtons.tsx'
import { codeProblems, signInProblems } from './problems.ts'
import { useEntryForm } from './use-entry-form.ts'

/** Navigates on, unless a code is required. */
function useSteps(next: string) {
  const [challenge, setChallenge] = useState<string | null>(null)
  const go = (step: SignInStep) => (step.step === 'totp' ? setChallenge(step.challenge ?? '') : leaveFor(next))
  return { challenge, go }
}

/** Loads a new page, which discards the state of the previous session. */
export const leaveFor = (place: string): void => window.location.assign(place)

export function SignInPage() {
  const next = safeNext(new URLSearchParams(window.location.search).get('next') ?? '')
  const { challenge, go } = useSteps(next)
  const [purpose, setPurpose] = useState<'sign-in' | 'reset' | null>(null)
  if (challenge !== null) return <CodeForm challenge={challenge} go={go} />
  if (purpose !== null) return <MailLink purpose={purpose} back={() => setPurpose(null)} />
  return <PasswordForm go={go} next={next} mailLink={setPurpose} />
}

interface StepProps {
  go(step: SignInStep): void
}

function PasswordForm({
  go,
  next,
  mailLink,
}: StepProps & { next: string; mailLink(purpose: 'sign-in' | 'reset'): void }) {
  const texts = t.entry
  const [sendsMail, setSendsMail] = useState(false)
  useEffect(() => {
    readSignInMethods().then(
      ({ mail }) => setSendsMail(mail),
      () => {},
    )
  }, [])
  const form = useEntryForm({ email: '', password: '' }, signInProblems, async ({ email, password }) =>
    go(await signIn(email, password)),
  )
  return (
    <EntryCard
      title={texts.signIn}
      help={texts.signInHelp}
      below={sendsMail ? <MailChoices choose={mailLink} /> : texts.forgotten}
    >
      <SsoProblem />
      <Form form={form} action={texts.signIn}>
        <TextInput {...form.field('email')} label={texts.email} type="email" autoComplete="username" maxLength={254} />
        <TextInput
          {...form.field('password')}
          label={texts.password}
          type="password"
          autoComplete="current-password"
          maxLength={256}
        />
      </Form>
      <ProviderButtons email={form.field('email').value} next={next} />
    </EntryCard>
  )
}

function CodeForm({ challenge, go }: StepProps & { challenge: string }) {
  const texts = t.entry
  const form = useEntryForm({ code: '' }, codeProblems, async ({ code }) => go(await signInWithCode(challenge, code)))
  return (
    <EntryCard title={texts.enterCode} help={texts.enterCodeHelp} below={<a href="/sign-in">{texts.startAgain}</a>}>
      <Form form={form} action={texts.signIn}>
        <TextInput
          {...form.field('code')}
          label={texts.code}
          description={texts.codeHelp}
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={40}
        />
      </Form>
    </EntryCard>
  )
}

/** Opening the link changes nothing, since mail programs open links to scan them. The button uses it. */
export function LinkPage({ token }: { token: string }) {
  const texts = t.entry
  const isReset = new URLSearchParams(window.location.search).has('reset')
  const { challenge, go } = useSteps(isReset ? '/choose-password?reset' : '/choose-password')
  const form = useEntryForm(
    {},
    () => ({}),
    async () => go(await signInWithLink(token)),
  )
  if (challenge !== null) return <CodeForm challenge={challenge} go={go} />
  return (
    <EntryCard
      title={texts.welcome}
      help={texts.linkHelp}
      below={form.problem === null ? undefined : <a href="/sign-in">{texts.withPassword}</a>}
    >
      <Form form={form} action={texts.signIn} />
    </EntryCard>
  )
}

/** Replaces a form that can no longer be used. */
export function LinkExpired({ help }: { help: string }) {
  return (
    <EntryCard title={t.entry.linkExpired} help={help}>
      <a href="/sign-in">{t.entry.withPassword}</a>
    </EntryCard>
  )
}
