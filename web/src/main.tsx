import '@mantine/core/styles/default-css-variables.layer.css'
import '@mantine/core/styles/baseline.layer.css'
import '@mantine/core/styles/global.layer.css'
import './app/theme.css'
import type { ReactNode } from 'react'
import { createRoot, type Root } from 'react-dom/client'
import { ApiError } from './api/api-error.ts'
import { App, AppUnavailable, Providers, ThemeProvider } from './app/App.tsx'
import { styleNonce } from './app/nonce.ts'
import { createQueryClient } from './app/queries.ts'
import { createAppRouter } from './app/router.tsx'
import { saveLanguage } from './data/team/profile.ts'
import { saveTimeZoneCookie } from './data/time-zone.ts'
import { loadSession, type Session } from './session/session.ts'
import { language, loadTexts, withTexts } from './text/index.ts'

// A dependency of a library inserts style elements and reads the nonce here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce })

const place = document.getElementById('root')
// The placeholder that the server rendered stays until the first render.
let root: Root | undefined
const render = (page: ReactNode) => {
  if (place === null) return
  root ??= createRoot(place, { onCaughtError })
  root.render(page)
}
const retry = () => void startApp()
await startApp()

async function startApp(): Promise<void> {
  if (/^\/(sign-in|invite|choose-password)(\/|$)/.test(window.location.pathname)) return startEntryPage()
  const isConsentPage = window.location.pathname === '/oauth/authorize'
  const opening = loadSession()
  await Promise.all([loadTexts(), opening.catch(() => {})])
  const session = await opening.catch((error: unknown) => render(<AppUnavailable error={error} retry={retry} />))
  if (session) await (isConsentPage ? startConsentPage() : start(session))
}

/** Starts the app for people who are not signed in; loads only what that needs. */
async function startEntryPage(): Promise<void> {
  try {
    await loadTexts()
    const { entryPage } = await withTexts(() => import('./sign-in/EntryPages.tsx'), ['entry'])
    render(<ThemeProvider>{await entryPage(window.location.pathname)}</ThemeProvider>)
  } catch (error) {
    render(<AppUnavailable error={error} retry={retry} />)
  }
}

/** Starts the page on which people decide about programs, without the router, which would rewrite their parameters. */
async function startConsentPage(): Promise<void> {
  try {
    const { ConsentPage } = await withTexts(() => import('./sign-in/ConsentPage.tsx'))
    render(
      <Providers queries={createQueryClient()}>
        <ConsentPage />
      </Providers>,
    )
  } catch (error) {
    render(<AppUnavailable error={error} retry={retry} />)
  }
}

async function start(session: Session): Promise<void> {
  saveTimeZoneCookie()
  saveMailLanguage(session)
  const queries = createQueryClient()
  const router = createAppRouter(queries, session)
  await router.load()
  render(<App queries={queries} router={router} />)
  const end = router.subscribe('onBeforeNavigate', () => {
    end()
    delete document.documentElement.dataset.begins
  })
}

/** People get mail in the language of the browser that they used last. */
function saveMailLanguage({ sendsMail, user }: Session): void {
  if (sendsMail && user !== null && user.language !== language) void saveLanguage(language).catch(() => {})
}

/** Logs programming errors to the console; failed requests are shown in the page. */
function onCaughtError(error: unknown): void {
  if (!(error instanceof ApiError)) console.error(error)
}
