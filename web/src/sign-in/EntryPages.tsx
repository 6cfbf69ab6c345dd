import { type ReactNode, Suspense } from 'react'
import { loadSession } from '../session/session.ts'
import { ChoosePassword } from './ChoosePassword.tsx'
import { findJoining, JoinPage } from './Join.tsx'
import { LinkPage, leaveFor, SignInPage } from './SignIn.tsx'

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
