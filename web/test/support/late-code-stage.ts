import { createElement, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { whenWanted } from '../../src/ui/overlay/later.ts'

const Later = whenWanted(async () => {
  await new Promise((resolve) => setTimeout(resolve))
  return { default: () => 'It is there' }
})
// What is drawn in its own time is not begun anew when code has come: it goes on where it waited.
startTransition(() => createRoot(document.body).render(createElement(Later)))
