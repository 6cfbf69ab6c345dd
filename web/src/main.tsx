import '@mantine/core/styles.layer.css'
import '@mantine/notifications/styles.layer.css'
import './app/theme.css'
import { createRoot } from 'react-dom/client'
import { App } from './app/App.tsx'
import { styleNonce } from './app/nonce.ts'
import { openSession } from './session/session.ts'
import { loadTexts } from './text/index.ts'

// A library of the library's writes style elements of its own and looks for the nonce here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce })

const [session] = await Promise.all([openSession(), loadTexts()])
const place = document.getElementById('root')
if (place !== null && session !== null) createRoot(place).render(<App session={session} />)
