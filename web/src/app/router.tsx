import type { QueryClient } from '@tanstack/react-query'
import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { findWorkspaceWith } from '../data/find-workspace.ts'
import { readFormSearch } from '../forms/search.ts'
import { readHomeSearch } from '../home/search.ts'
import { readSearch } from '../inbox/list/filters.ts'
import { readFilters, readImportSearch } from '../leads/transfer/search.ts'
import { readReportSearch } from '../reports/search.ts'
import { readReviewSearch } from '../review/search.ts'
import { readScenarioSearch } from '../scenarios/search.ts'
import { lastWorkspace } from '../session/last-workspace.ts'
import { type Session, signOut } from '../session/session.ts'
import { readScope } from '../settings/instructions/scope.ts'
import { readAddress } from '../shared/lead-view/address.ts'
import { t, withTexts } from '../text/index.ts'
import { type Load, lazyPage } from '../ui/overlay/code-loader.ts'
import { showError } from '../ui/overlay/toasts.tsx'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { NotFoundPage } from '../ui/page/NotFoundPage.tsx'
import { PageError } from '../ui/page/PageError.tsx'
import { readEndpointSearch } from '../webhooks/search.ts'
import { Frame, InboxLive } from './Frame.tsx'
import { navItems } from './nav-items.ts'

const root = createRootRoute({ errorComponent: PageError })

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

/** Returns the route for a path without a workspace, as people type it: opens the page in the last workspace. */
const shortPageRoute = (session: Session) =>
  createRoute({
    getParentRoute: () => root,
    path: '/$room',
    beforeLoad: ({ params, location }) => {
      const workspaceId = lastWorkspace(session)
      if (workspaceId !== null) {
        throw redirect({ href: `/w/${workspaceId}/${params.room}${location.searchStr}`, replace: true })
      }
    },
    component: NoWorkspace,
  })

/** Routes for shortened paths to something on a page: open it in the workspace that contains it. */
const shortPathRoutes = (session: Session) =>
  navItems.map(({ path: target }) =>
    createRoute({
      getParentRoute: () => root,
      path: `/${target}/$`,
      beforeLoad: async ({ params, location }) => {
        const below = '_splat' in params ? String(params._splat) : ''
        const workspaceId = await findWorkspaceWith(session, target, below)
        if (workspaceId !== null) {
          throw redirect({ href: `/w/${workspaceId}/${target}/${below}${location.searchStr}`, replace: true })
        }
      },
      component: NoWorkspace,
    }),
  )

/** Every page of a workspace has the workspace id in its path, so that a link means the same for everyone. */
export const workspaceRoute = createRoute({ getParentRoute: () => root, path: '/w/$workspaceId', component: Frame })

const workspaceStart = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/w/$workspaceId/home', params })
  },
})

/** Returns the route of a page without query parameters. */
function page<const Path extends string, Name extends string>(
  path: Path,
  name: Name,
  load: Load<Record<Name, ComponentType>>,
) {
  const component = lazyPage(() => withTexts(load), name)
  return createRoute({ getParentRoute: () => workspaceRoute, path, component })
}

/** Returns the route of a page with query parameters. `texts`: those that it needs, all unless given. */
function searchPage<const Path extends string, Search, Name extends string>(
  path: Path,
  readSearch: (raw: Record<string, unknown>) => Search,
  name: Name,
  load: Load<Record<Name, ComponentType>>,
  texts?: Parameters<typeof withTexts>[1],
) {
  const component = lazyPage(() => withTexts(load, texts), name)
  return createRoute({ getParentRoute: () => workspaceRoute, path, validateSearch: readSearch, component })
}

const homeRoute = searchPage('home', readHomeSearch, 'HomePage', () => import('../home/HomePage.tsx'), ['home'])

const inboxRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'inbox/{-$conversationId}',
  validateSearch: readSearch,
  component: lazyPage(async () => {
    const page = await import('../inbox/InboxPage.tsx')
    // Loads the live updates of the inbox together with the page; later they would have to refetch what they missed.
    await InboxLive.preload()
    return page
  }, 'InboxPage'),
})

const keysRoute = page('keys', 'KeysPage', () => import('../keys/KeysPage.tsx'))
const connectAgentRoute = page('keys/connect', 'ConnectPage', () => import('../keys/connect/ConnectPage.tsx'))
const connectionsRoute = page('connections', 'ConnectionsPage', () => import('../connections/ConnectionsPage.tsx'))
const connectionRoute = page(
  'connections/$connectionId',
  'ConnectionPage',
  () => import('../connections/detail/ConnectionPage.tsx'),
)
const templatesRoute = page('templates', 'TemplatesPage', () => import('../templates/TemplatesPage.tsx'))

const scenariosRoute = searchPage(
  'scenarios',
  readScenarioSearch,
  'ScenariosPage',
  () => import('../scenarios/ScenariosPage.tsx'),
)

const scenarioRunRoute = page('scenarios/$runId', 'RunPage', () => import('../scenarios/RunPage.tsx'))
const draftRoute = page('templates/$draftId', 'DraftPage', () => import('../templates/DraftPage.tsx'))
const tasksRoute = page('tasks', 'TasksPage', () => import('../tasks/TasksPage.tsx'))
const broadcastsRoute = page('broadcasts', 'BroadcastsPage', () => import('../broadcasts/BroadcastsPage.tsx'))
const broadcastRoute = page('broadcasts/$broadcastId', 'BroadcastPage', () => import('../broadcasts/BroadcastPage.tsx'))
const sequencesRoute = page('sequences', 'SequencesPage', () => import('../sequences/SequencesPage.tsx'))
const sequenceRoute = page('sequences/$sequenceId', 'SequencePage', () => import('../sequences/SequencePage.tsx'))
const knowledgeRoute = page('knowledge', 'KnowledgePage', () => import('../knowledge/KnowledgePage.tsx'))

const articleRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'knowledge/$articleId',
  // The version that an answer cites.
  validateSearch: ({ version }: Record<string, unknown>): { version?: number } =>
    typeof version === 'number' && Number.isInteger(version) && version > 0 ? { version } : {},
  component: lazyPage(() => withTexts(() => import('../knowledge/ArticlePage.tsx')), 'ArticlePage'),
})

const articleDraftRoute = page(
  'knowledge/drafts/$draftId',
  'ArticleDraftPage',
  () => import('../knowledge/ArticleDraftPage.tsx'),
)

const importRoute = searchPage(
  'leads/import',
  readImportSearch,
  'ImportPage',
  () => import('../leads/transfer/ImportPage.tsx'),
)

const bulkChangesRoute = page('leads/changes', 'BulkChangesPage', () => import('../leads/bulk/BulkChangesPage.tsx'))

const exportRoute = searchPage(
  'leads/export',
  readFilters,
  'ExportPage',
  () => import('../leads/transfer/ExportPage.tsx'),
)

const leadsRoute = searchPage('leads', readAddress, 'LeadsPage', () => import('../leads/LeadsPage.tsx'), ['list'])

const leadRoute = page('leads/$leadId', 'LeadPage', () => import('../leads/page/LeadPage.tsx'))
const settingsPage = lazyPage(() => withTexts(() => import('../settings/SettingsPage.tsx')), 'SettingsPage')

const settingsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'settings',
  component: settingsPage,
})

const settingsSectionRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'settings/$section',
  validateSearch: readScope,
  component: settingsPage,
})

const profileRoute = page('profile', 'ProfilePage', () => import('../profile/ProfilePage.tsx'))
const formsRoute = page('forms', 'FormsPage', () => import('../forms/FormsPage.tsx'))

const formRoute = searchPage('forms/$formId', readFormSearch, 'FormPage', () => import('../forms/FormPage.tsx'))

const webhooksRoute = page('webhooks', 'WebhooksPage', () => import('../webhooks/WebhooksPage.tsx'))
const costsRoute = page('costs', 'CostsPage', () => import('../costs/CostsPage.tsx'))

const reportsRoute = searchPage('reports', readReportSearch, 'ReportsPage', () => import('../reports/ReportsPage.tsx'))

const reviewRoute = page('review', 'QueuePage', () => import('../inbox/review/QueuePage.tsx'))

const agentNumbersRoute = searchPage(
  'review/numbers',
  readReviewSearch,
  'NumbersPage',
  () => import('../review/NumbersPage.tsx'),
)

const reviewResultsRoute = page('review/results', 'ResultsPage', () => import('../review/ResultsPage.tsx'))
const reviewSettingsRoute = page('review/settings', 'SettingsPage', () => import('../review/SettingsPage.tsx'))

const endpointRoute = searchPage(
  'webhooks/$endpointId',
  readEndpointSearch,
  'EndpointPage',
  () => import('../webhooks/endpoint/EndpointPage.tsx'),
)

export function createAppRouter(queries: QueryClient, session: Session) {
  return createRouter({
    routeTree: root.addChildren([
      start(session),
      shortPageRoute(session),
      ...shortPathRoutes(session),
      workspaceRoute.addChildren([
        workspaceStart,
        homeRoute,
        leadsRoute,
        leadRoute,
        importRoute,
        bulkChangesRoute,
        exportRoute,
        inboxRoute,
        connectionsRoute,
        connectionRoute,
        tasksRoute,
        broadcastsRoute,
        broadcastRoute,
        sequencesRoute,
        sequenceRoute,
        knowledgeRoute,
        articleRoute,
        articleDraftRoute,
        templatesRoute,
        draftRoute,
        scenariosRoute,
        scenarioRunRoute,
        formsRoute,
        formRoute,
        keysRoute,
        connectAgentRoute,
        webhooksRoute,
        endpointRoute,
        costsRoute,
        reportsRoute,
        reviewRoute,
        agentNumbersRoute,
        reviewResultsRoute,
        reviewSettingsRoute,
        settingsRoute,
        settingsSectionRoute,
        profileRoute,
      ]),
    ]),
    context: { queries },
    defaultPreload: 'intent',
    defaultErrorComponent: PageError,
    defaultNotFoundComponent: NotFoundPage,
    defaultPendingMs: 150,
    scrollRestoration: false,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}

function NoWorkspace() {
  const { title, help } = t.common.noWorkspace
  return (
    <EmptyState
      title={title}
      help={help}
      action={{ label: t.common.signOut, run: () => void signOut().catch(showError) }}
    />
  )
}
