import { TextInput } from '@mantine/core'
import { type ReactNode, Suspense, use } from 'react'
import type { ApiError } from '../api/api-error.ts'
import { changePassword } from '../data/team/profile.ts'
import { acceptInvitation, type Invitation, readInvitation } from '../data/team/sign-in.ts'
import { findSession, loadSession } from '../session/session.ts'
import { t } from '../text/index.ts'
import { ErrorState } from '../ui/page/ErrorState.tsx'
import { EntryCard } from './EntryCard.tsx'
import { Form, NewPassword } from './Form.tsx'
import { newcomerProblems, newPasswordProblems } from './problems.ts'
import { LinkExpired, LinkPage, leaveFor, SignInPage } from './SignIn.tsx'
import { entryProblem, useEntryForm } from './use-entry-form.ts'

/** Returns the page for an address before sign-in; null while the browser navigates to another one. */
export async function entryPage(pathname: string): Promise<ReactNode> {
  const [, place, token = ''] = pathname.split('/')
  if (place === 'choose-password') return choosePasswordPage()
  if (place === 'invite') {
    const joining = findJoining(token)
    return (
      <Suspense>
        <JoinPage joining={joining} />
      </Suspense>
    )
  }
  return token === '' ? <SignInPage /> : <LinkPage token={token} />
}

async function choosePasswordPage(): Promise<ReactNode> {
  const user = (await loadSession())?.user ?? null
  if (user === null) return null
  const isReset = new URLSearchParams(window.location.search).has('reset')
  if (isReset || !user.hasPassword) return <ChoosePassword email={user.email} isReset={isReset} />
  leaveFor('/')
  return null
}

/** Asks people who signed in by a link to choose a password: the first, or a new one for a forgotten one. */
function ChoosePassword({ email, isReset }: { email: string; isReset: boolean }) {
  const texts = t.entry
  const form = useEntryForm({ password: '' }, newPasswordProblems, async ({ password }) => {
    await changePassword(password, '')
    leaveFor('/')
  })
  return (
    <EntryCard
      title={texts.choosePassword}
      help={isReset ? texts.newPasswordHelp : texts.choosePasswordHelp}
      below={<a href="/">{texts.later}</a>}
    >
      <Form form={form} action={texts.setPassword}>
        <TextInput
          name="username"
          label={texts.email}
          description={texts.emailHelp}
          type="email"
          value={email}
          autoComplete="username"
          readOnly
        />
        <NewPassword field={form.field('password')} />
      </Form>
    </EntryCard>
  )
}

interface FoundInvitation {
  token: string
  invitation: Invitation
  /** Name of the signed-in person; null for a new user. */
  name: string | null
}

type Joining = Promise<FoundInvitation | { error: ApiError }>

function findJoining(token: string): Joining {
  const finding = Promise.all([readInvitation(token), findSession()])
  return finding.then(
    ([invitation, session]) => ({ token, invitation, name: session?.user?.name ?? null }),
    (error: ApiError) => ({ error }),
  )
}

/** Accepts an invitation. Opening the link changes nothing. */
function JoinPage({ joining }: { joining: Joining }) {
  const found = use(joining)
  if (!('error' in found))
    return found.name === null ? <NewAccountForm {...found} /> : <ExistingAccountForm {...found} name={found.name} />
  if (found.error.status === 404) return <LinkExpired help={entryProblem(found.error)} />
  return <ErrorState error={found.error} retry={() => window.location.reload()} />
}

function NewAccountForm({ token, invitation: { workspaceName, email, role } }: FoundInvitation) {
  const texts = t.entry
  const form = useEntryForm({ name: '', password: '' }, newcomerProblems, async ({ name, password }) => {
    await acceptInvitation(token, { name: name.trim(), password })
    leaveFor('/')
  })
  return (
    <EntryCard
      title={texts.joinTo({ workspace: workspaceName })}
      help={texts.invited({ email, role: texts.roles[role] })}
      below={
        <>
          {texts.haveAccount} <a href={`/sign-in?next=/invite/${token}`}>{texts.signInFirst}</a>.
        </>
      }
    >
      <Form form={form} action={texts.join}>
        <input type="hidden" name="username" value={email} autoComplete="username" />
        <TextInput
          {...form.field('name')}
          label={texts.yourName}
          description={texts.yourNameHelp}
          autoComplete="name"
          maxLength={100}
        />
        <NewPassword field={form.field('password')} />
      </Form>
    </EntryCard>
  )
}

function ExistingAccountForm({ token, invitation: { workspaceName, role }, name }: FoundInvitation & { name: string }) {
  const texts = t.entry
  const form = useEntryForm(
    {},
    () => ({}),
    async () => {
      await acceptInvitation(token, null)
      leaveFor('/')
    },
  )
  return (
    <EntryCard
      title={texts.joinTo({ workspace: workspaceName })}
      help={texts.invitedAs({ name, role: texts.roles[role] })}
    >
      <Form form={form} action={texts.join} />
    </EntryCard>
  )
}
