import {
  localStorageColorSchemeManager,
  type MantineColorScheme,
  type MantineColorSchemeManager,
  MantineProvider,
} from '@mantine/core'
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { ToastRegion } from '../ui/overlay/ToastRegion.tsx'
import { ErrorState } from '../ui/page/ErrorState.tsx'
import { styleNonce } from './nonce.ts'
import type { createAppRouter } from './router.tsx'
import { theme, variables } from './theme.ts'

interface AppProps {
  queries: QueryClient
  router: ReturnType<typeof createAppRouter>
}

export function App({ queries, router }: AppProps) {
  return (
    <Providers queries={queries}>
      <RouterProvider router={router} />
    </Providers>
  )
}

/** What pages need besides the router. */
export function Providers({ queries, children }: { queries: QueryClient; children: ReactNode }) {
  return (
    <ThemeProvider>
      <QueryClientProvider client={queries}>
        {children}
        <ToastRegion />
      </QueryClientProvider>
    </ThemeProvider>
  )
}

const retryMs = 5_000

/** Shown instead of the app while the server cannot say who is signed in. Retries automatically and on request. */
export function AppUnavailable({ error, retry }: { error: unknown; retry(): void }) {
  useEffect(() => {
    const timer = setTimeout(retry, retryMs)
    return () => clearTimeout(timer)
  }, [retry])
  return (
    <ThemeProvider>
      <main>
        <ErrorState error={error} retry={retry} />
      </main>
    </ThemeProvider>
  )
}

export function ThemeProvider({ children }: { children: ReactNode }) {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      colorSchemeManager={schemeManager}
      getStyleNonce={() => styleNonce}
    >
      {children}
    </MantineProvider>
  )
}

const savedScheme = localStorageColorSchemeManager()
const yearSeconds = 365 * 24 * 60 * 60

/** Also saves the color scheme in a cookie, so that the placeholder that the server renders has the same colors. */
const schemeManager: MantineColorSchemeManager = {
  ...savedScheme,
  get: (defaultScheme) => {
    const scheme = savedScheme.get(defaultScheme)
    if (scheme !== defaultScheme && !document.cookie.includes('parley_scheme=')) saveSchemeCookie(scheme)
    return scheme
  },
  set: (scheme) => {
    savedScheme.set(scheme)
    saveSchemeCookie(scheme)
  },
}

function saveSchemeCookie(scheme: MantineColorScheme): void {
  // biome-ignore lint/suspicious/noDocumentCookie: Safari lacks the Cookie Store API
  document.cookie = `parley_scheme=${scheme}; path=/; max-age=${yearSeconds}; samesite=lax`
}
