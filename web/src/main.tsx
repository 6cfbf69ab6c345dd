import '@mantine/core/styles/default-css-variables.layer.css'
import '@mantine/core/styles/baseline.layer.css'
import '@mantine/core/styles/global.layer.css'
import './app/theme.css'
import type { ReactNode } from 'react'
import { createRoot, type Root } from 'react-dom/client'
import { Failure } from './api/failure.ts'
import { App, Look, NotOpen } from './app/App.tsx'
import { styleNonce } from './app/nonce.ts'
import { makeQueries } from './app/queries.ts'
import { makeRouter } from './app/router.tsx'
import { tellTimeZone } from './data/time-zone.ts'
import { openSession, type Session } from './session/session.ts'
import { loadTexts, withTexts } from './text/index.ts'

// A library of the library's writes style elements of its own and looks for the nonce here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce })

const place = document.getElementById('root')
// The shape that the page came with stands until there is something to draw.
let drawn: Root | undefined
const draw = (page: ReactNode) => {
  if (place === null) return
  drawn ??= createRoot(place, { onCaughtError })
  drawn.render(page)
}
const retry = () => void begin()
await begin()

async function begin(): Promise<void> {
  if (/^\/(sign-in|invite|choose-password)(\/|$)/.test(window.location.pathname)) return beginOutside()
  const opening = openSession()
  await Promise.all([loadTexts(), opening.catch(() => {})])
  const session = await opening.catch((error: unknown) => draw(<NotOpen error={error} retry={retry} />))
  if (session) await start(session)
}

/** For who is not signed in yet, and loads no more of the app than that takes. */
async function beginOutside(): Promise<void> {
  try {
    await loadTexts()
    const { entryPage } = await withTexts(() => import('./sign-in/EntryPages.tsx'), ['entry'])
    draw(<Look>{await entryPage(window.location.pathname)}</Look>)
  } catch (error) {
    draw(<NotOpen error={error} retry={retry} />)
  }
}

async function start(session: Session): Promise<void> {
  tellTimeZone()
  const queries = makeQueries()
  const router = makeRouter(queries, session)
  await router.load()
  draw(<App queries={queries} router={router} />)
  const end = router.subscribe('onBeforeNavigate', () => {
    end()
    delete document.documentElement.dataset.begins
  })
}

/** What could not be had is said where it was wanted; only what is wrong with the program itself is for the console. */
function onCaughtError(error: unknown): void {
  if (!(error instanceof Failure)) console.error(error)
}
