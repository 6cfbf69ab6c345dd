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

const homeRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'home',
  validateSearch: readHomeSearch,
  component: lazyPage(() => withTexts(() => import('../home/HomePage.tsx'), ['home']), 'HomePage'),
})

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

const scenariosRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'scenarios',
  validateSearch: readScenarioSearch,
  component: lazyPage(() => withTexts(() => import('../scenarios/ScenariosPage.tsx')), 'ScenariosPage'),
})

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

const importRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'leads/import',
  validateSearch: readImportSearch,
  component: lazyPage(() => withTexts(() => import('../leads/transfer/ImportPage.tsx')), 'ImportPage'),
})

const bulkChangesRoute = page('leads/changes', 'BulkChangesPage', () => import('../leads/bulk/BulkChangesPage.tsx'))

const exportRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'leads/export',
  validateSearch: readFilters,
  component: lazyPage(() => withTexts(() => import('../leads/transfer/ExportPage.tsx')), 'ExportPage'),
})

const leadsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'leads',
  validateSearch: readAddress,
  component: lazyPage(() => withTexts(() => import('../leads/LeadsPage.tsx'), ['list']), 'LeadsPage'),
})

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

const formRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'forms/$formId',
  validateSearch: readFormSearch,
  component: lazyPage(() => withTexts(() => import('../forms/FormPage.tsx')), 'FormPage'),
})

const webhooksRoute = page('webhooks', 'WebhooksPage', () => import('../webhooks/WebhooksPage.tsx'))
const costsRoute = page('costs', 'CostsPage', () => import('../costs/CostsPage.tsx'))

const reportsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'reports',
  validateSearch: readReportSearch,
  component: lazyPage(() => withTexts(() => import('../reports/ReportsPage.tsx')), 'ReportsPage'),
})

const reviewRoute = page('review', 'QueuePage', () => import('../inbox/review/QueuePage.tsx'))

const agentNumbersRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'review/numbers',
  validateSearch: readReviewSearch,
  component: lazyPage(() => withTexts(() => import('../review/NumbersPage.tsx')), 'NumbersPage'),
})

const reviewResultsRoute = page('review/results', 'ResultsPage', () => import('../review/ResultsPage.tsx'))
const reviewSettingsRoute = page('review/settings', 'SettingsPage', () => import('../review/SettingsPage.tsx'))

const endpointRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'webhooks/$endpointId',
  validateSearch: readEndpointSearch,
  component: lazyPage(() => withTexts(() => import('../webhooks/endpoint/EndpointPage.tsx')), 'EndpointPage'),
})

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
