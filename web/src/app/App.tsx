import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useState } from 'react'
import { Failure } from '../api/failure.ts'
import type { Session } from '../session/session.ts'
import { NoticePlace } from '../ui/overlay/NoticePlace.tsx'
import { styleNonce } from './nonce.ts'
import { makeRouter } from './router.tsx'
import { theme, variables } from './theme.ts'

export function App({ session }: { session: Session }) {
  const [queries] = useState(makeQueries)
  const [router] = useState(() => makeRouter(queries, session))
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      getStyleNonce={() => styleNonce}
    >
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
        <NoticePlace />
      </QueryClientProvider>
    </MantineProvider>
  )
}

// The live stream says what is out of date, so that nothing is asked for again just because a while has passed.
function makeQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 60_000,
        gcTime: 30 * 60_000,
        refetchOnWindowFocus: false,
        retry: (count, error) => error instanceof Failure && (error.isOffline || error.status >= 500) && count < 3,
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  })
}
