import '@mantine/core/styles/default-css-variables.layer.css'
import '@mantine/core/styles/baseline.layer.css'
import '@mantine/core/styles/global.layer.css'
import './app/theme.css'
import { createRoot } from 'react-dom/client'
import { Failure } from './api/failure.ts'
import { App } from './app/App.tsx'
import { styleNonce } from './app/nonce.ts'
import { makeQueries } from './app/queries.ts'
import { makeRouter } from './app/router.tsx'
import { openSession } from './session/session.ts'
import { loadTexts } from './text/index.ts'

// A library of the library's writes style elements of its own and looks for the nonce here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce })

const [session] = await Promise.all([openSession(), loadTexts()])
const place = document.getElementById('root')
if (place !== null && session !== null) {
  const queries = makeQueries()
  const router = makeRouter(queries, session)
  // The shape that the page came with stands until the room's own code is there.
  await router.load()
  createRoot(place, { onCaughtError }).render(<App queries={queries} router={router} />)
  const end = router.subscribe('onBeforeNavigate', () => {
    end()
    delete document.documentElement.dataset.begins
  })
}

/** What could not be had is said where it was wanted; only what is wrong with the program itself is for the console. */
function onCaughtError(error: unknown): void {
  if (!(error instanceof Failure)) console.error(error)
}
