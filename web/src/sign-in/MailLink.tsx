import { Anchor, TextInput } from '@mantine/core'
import { useState } from 'react'
import { mailSignInLink } from '../data/team/sign-in.ts'
import { t } from '../text/index.ts'
import { EntryCard } from './EntryCard.tsx'
import { Form } from './Form.tsx'
import { emailProblems } from './problems.ts'
import { useEntryForm } from './use-entry-form.ts'

type Purpose = 'sign-in' | 'reset'

/** Alternatives to the password, if the installation sends mail. */
export function MailChoices({ choose }: { choose(purpose: Purpose): void }) {
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
export function MailLink({ purpose, back }: { purpose: Purpose; back(): void }) {
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
