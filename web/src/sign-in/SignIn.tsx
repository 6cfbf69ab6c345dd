import { Anchor, Button, Stack, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import {
  findProviders,
  mailSignInLink,
  providerStart,
  readSignInMethods,
  type SignInStep,
  signIn,
  signInWithCode,
  signInWithLink,
} from '../data/team/sign-in.ts'
import { t } from '../text/index.ts'
import styles from './EntryCard.module.css'
import { EntryCard } from './EntryCard.tsx'
import { Form } from './Form.tsx'
import { safeNext } from './next.ts'
import { codeProblems, emailProblems, signInProblems } from './problems.ts'
import { entryProblem, useEntryForm } from './use-entry-form.ts'

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
  const [purpose, setPurpose] = useState<Purpose | null>(null)
  if (challenge !== null) return <CodeForm challenge={challenge} go={go} />
  if (purpose !== null) return <MailLink purpose={purpose} back={() => setPurpose(null)} />
  return <PasswordForm go={go} next={next} mailLink={setPurpose} />
}

interface StepProps {
  go(step: SignInStep): void
}

interface PasswordFormProps extends StepProps {
  next: string
  mailLink(purpose: Purpose): void
}

function PasswordForm({ go, next, mailLink }: PasswordFormProps) {
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

type Purpose = 'sign-in' | 'reset'

/** Alternatives to the password, if the installation sends mail. */
function MailChoices({ choose }: { choose(purpose: Purpose): void }) {
  const texts = t.entry
  return (
    <>
      <Anchor component="button" type="button" size="sm" onClick={() => choose('sign-in')}>
        {texts.mailLink}
      </Anchor>
      {' · '}
      <Anchor component="button" type="button" size="sm" onClick={() => choose('reset')}>
        {texts.forgotPassword}
      </Anchor>
    </>
  )
}

/** Asks for the address, then says the same whether or not it has an account. */
function MailLink({ purpose, back }: { purpose: Purpose; back(): void }) {
  const texts = t.entry
  const [sentTo, setSentTo] = useState<string | null>(null)
  const form = useEntryForm({ email: '' }, emailProblems, async ({ email }) => {
    await mailSignInLink(email.trim(), purpose)
    setSentTo(email.trim())
  })
  const toPassword = (
    <Anchor component="button" type="button" size="sm" onClick={back}>
      {texts.withPassword}
    </Anchor>
  )
  if (sentTo !== null) {
    return <EntryCard title={texts.mailSent} help={texts.mailSentHelp({ email: sentTo })} below={toPassword} />
  }
  const [title, help] =
    purpose === 'reset' ? [texts.resetTitle, texts.resetHelp] : [texts.mailLinkTitle, texts.mailLinkHelp]
  return (
    <EntryCard title={title} help={help} below={toPassword}>
      <Form form={form} action={texts.sendLink}>
        <TextInput {...form.field('email')} label={texts.email} type="email" autoComplete="username" maxLength={254} />
      </Form>
    </EntryCard>
  )
}

/** Says why a visit to an identity provider gave no session. */
function SsoProblem() {
  const reason = new URLSearchParams(window.location.search).get('sso') ?? ''
  const problems: Record<string, string> = t.entry.sso
  const problem = Object.hasOwn(problems, reason) ? problems[reason] : undefined
  if (problem === undefined) return null
  return (
    <p className={`${styles.problem} ${styles.apart}`} role="alert">
      {problem}
    </p>
  )
}

/** A button for each identity provider. Those with domains of their own are found by the address, if there are several. */
function ProviderButtons({ email, next }: { email: string; next: string }) {
  const texts = t.entry
  const [data, setData] = useState<Awaited<ReturnType<typeof findProviders>> | null>(null)
  // Without an answer, the form for the password works alone.
  useEffect(() => void findProviders().then(setData, () => {}), [])
  const [problem, setProblem] = useState<string | null>(null)
  const [found, setFound] = useState<readonly { id: string; name: string }[]>([])
  const open = (id: string) => window.location.assign(providerStart(id, next))
  if (data === null || (data.providers.length === 0 && !data.hasMore)) return null
  const find = async () => {
    setProblem(email.trim() === '' ? texts.needs.email : null)
    if (email.trim() === '') return
    try {
      const { providers } = await findProviders(email.trim())
      const others = providers.filter(({ id }) => data.providers.every((one) => one.id !== id))
      const [only] = others
      if (others.length === 1 && only !== undefined) return open(only.id)
      setFound(others)
      if (others.length === 0) setProblem(texts.noProvider)
    } catch (error) {
      setProblem(entryProblem(error))
    }
  }
  return (
    <Stack gap="xs" mt="md">
      <p className={styles.or}>{texts.or}</p>
      {[...data.providers, ...found].map(({ id, name }) => (
        <Button key={id} variant="default" fullWidth onClick={() => open(id)}>
          {texts.continueWith({ name })}
        </Button>
      ))}
      {data.hasMore && (
        <Button variant="default" fullWidth onClick={() => void find()}>
          {texts.ssoEmail}
        </Button>
      )}
      {problem !== null && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </Stack>
  )
}
