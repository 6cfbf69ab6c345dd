import type { QueryClient } from '@tanstack/react-query'
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { readFilters, readImportSearch } from '../leads/transfer/search.ts'
import { PageFailure } from '../ui/PageFailure.tsx'
import { Frame } from './Frame.tsx'
import { lastWorkspace } from './last-workspace.ts'
import { NoWorkspace } from './NoWorkspace.tsx'
import type { Session } from './session.ts'

const root = createRootRoute({ errorComponent: PageFailure })

const start = (session: Session) =>
  createRoute({
    getParentRoute: () => root,
    path: '/',
    beforeLoad: () => {
      const workspaceId = lastWorkspace(session)
      if (workspaceId !== null) throw redirect({ to: '/w/$workspaceId/home', params: { workspaceId } })
    },
    component: NoWorkspace,
  })

/** Everything of a workspace is under its id, so that a link means the same to everybody. */
export const workspaceRoute = createRoute({ getParentRoute: () => root, path: '/w/$workspaceId', component: Frame })

const homeRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'home',
  component: lazyRouteComponent(() => import('../home/HomePage.tsx'), 'HomePage'),
})

const keysRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'keys',
  component: lazyRouteComponent(() => import('../keys/KeysPage.tsx'), 'KeysPage'),
})

const connectionsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'connections',
  component: lazyRouteComponent(() => import('../connections/ConnectionsPage.tsx'), 'ConnectionsPage'),
})

const connectionRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'connections/$connectionId',
  component: lazyRouteComponent(() => import('../connections/detail/ConnectionPage.tsx'), 'ConnectionPage'),
})

const importRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'leads/import',
  validateSearch: readImportSearch,
  component: lazyRouteComponent(() => import('../leads/transfer/ImportPage.tsx'), 'ImportPage'),
})

const exportRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'leads/export',
  validateSearch: readFilters,
  component: lazyRouteComponent(() => import('../leads/transfer/ExportPage.tsx'), 'ExportPage'),
})

const settingsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'settings',
  component: lazyRouteComponent(() => import('../settings/SettingsPage.tsx'), 'SettingsPage'),
})

export function makeRouter(queries: QueryClient, session: Session) {
  return createRouter({
    routeTree: root.addChildren([
      start(session),
      workspaceRoute.addChildren([
        homeRoute,
        connectionsRoute,
        connectionRoute,
        importRoute,
        exportRoute,
        keysRoute,
        settingsRoute,
      ]),
    ]),
    context: { queries },
    defaultPreload: 'intent',
    defaultErrorComponent: PageFailure,
    defaultPendingMs: 150,
    scrollRestoration: false,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>
  }
}
