import {
  localStorageColorSchemeManager,
  type MantineColorScheme,
  type MantineColorSchemeManager,
  MantineProvider,
} from '@mantine/core'
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { NoticePlace } from '../ui/overlay/NoticePlace.tsx'
import { ErrorNotice } from '../ui/page/ErrorNotice.tsx'
import { styleNonce } from './nonce.ts'
import type { makeRouter } from './router.tsx'
import { theme, variables } from './theme.ts'

interface AppProps {
  queries: QueryClient
  router: ReturnType<typeof makeRouter>
}

export function App({ queries, router }: AppProps) {
  return (
    <Look>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
        <NoticePlace />
      </QueryClientProvider>
    </Look>
  )
}

const againMs = 5_000

/** In place of the app while the service does not say who is signed in; it is asked again, by itself and when wanted. */
export function NotOpen({ error, retry }: { error: unknown; retry(): void }) {
  useEffect(() => {
    const timer = setTimeout(retry, againMs)
    return () => clearTimeout(timer)
  }, [retry])
  return (
    <Look>
      <main>
        <ErrorNotice error={error} retry={retry} />
      </main>
    </Look>
  )
}

export function Look({ children }: { children: ReactNode }) {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      colorSchemeManager={schemeKept}
      getStyleNonce={() => styleNonce}
    >
      {children}
    </MantineProvider>
  )
}

const kept = localStorageColorSchemeManager()
const aYear = 365 * 24 * 60 * 60

/** Keeps the chosen appearance where the service finds it too: what it draws before the app is there looks the same. */
const schemeKept: MantineColorSchemeManager = {
  ...kept,
  get: (usual) => {
    const scheme = kept.get(usual)
    if (scheme !== usual && !document.cookie.includes('parley_scheme=')) tell(scheme)
    return scheme
  },
  set: (scheme) => {
    kept.set(scheme)
    tell(scheme)
  },
}

function tell(scheme: MantineColorScheme): void {
  // biome-ignore lint/suspicious/noDocumentCookie: the other way to write one is missing in Safari
  document.cookie = `parley_scheme=${scheme}; path=/; max-age=${aYear}; samesite=lax`
}
