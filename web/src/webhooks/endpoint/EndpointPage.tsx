import { useParams, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { type Endpoint, useEndpoints } from '../../data/webhooks.ts'
import { hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { BackLink } from '../../ui/page/BackLink.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { PageHeader } from '../../ui/page/PageHeader.tsx'
import { Segments } from '../../ui/page/Segments.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { useChangeSearch } from '../../ui/use-newest-search.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { DeliveriesView } from '../deliveries/DeliveriesView.tsx'
import { type EndpointSearch, endpointViews, readEndpointSearch } from '../search.ts'
import { useLiveEndpoints } from '../use-live-updates.ts'
import { nameOf } from '../webhook-texts.ts'
import { EndpointActions, EndpointDialogs } from './EndpointActions.tsx'
import { EndpointCharts } from './EndpointCharts.tsx'
import { EndpointFacts } from './EndpointFacts.tsx'
import type { EndpointDialog } from './endpoint-dialog.ts'
import { StatusLine } from './StatusLine.tsx'

/** Page of an endpoint: deliveries, charts and settings. */
export function EndpointPage() {
  const workspaceId = useWorkspaceId()
  const { endpointId = '' } = useParams({ strict: false })
  const query = useEndpoints(workspaceId)
  useLiveEndpoints(workspaceId, query.data)
  const endpoint = query.data?.find(({ id }) => id === endpointId)
  if (endpoint !== undefined) return <EndpointView key={endpointId} endpoint={endpoint} />
  return (
    <>
      <PageHeader title={t.webhooks.title} before={<BackLink path="webhooks" label={t.webhooks.title} />} />
      <QueryBoundary query={query}>{() => <ErrorState error={new ApiError(404, '')} />}</QueryBoundary>
    </>
  )
}

function EndpointView({ endpoint }: { endpoint: Endpoint }) {
  const workspaceId = useWorkspaceId()
  const search: EndpointSearch = useSearch({ strict: false })
  const [dialog, setDialog] = useState<EndpointDialog | null>(null)
  const mayChange = hasRole(workspaceId, 'admin')
  const view = search.view ?? 'deliveries'
  const changeSearch = useChangeSearch(readEndpointSearch)
  const go = (next: (before: EndpointSearch) => EndpointSearch) => changeSearch(next, { replace: true })
  const isActive = endpoint.state === 'active'
  useShortcuts(
    t.webhooks.endpoint,
    useMemo(() => {
      if (!mayChange) return []
      const edit = { keys: 'e', label: t.webhooks.edit, run: () => setDialog('edit') }
      return isActive ? [{ keys: 't', label: t.webhooks.test, run: () => setDialog('test') }, edit] : [edit]
    }, [mayChange, isActive]),
  )
  const parts = { workspaceId, endpoint }
  return (
    <>
      <PageHeader
        title={nameOf(endpoint)}
        before={<BackLink path="webhooks" label={t.webhooks.title} />}
        action={mayChange && <EndpointActions endpoint={endpoint} openDialog={setDialog} />}
      />
      <StatusLine {...parts}>
        <Segments
          label={t.webhooks.endpoint}
          data={endpointViews.map((value) => ({ value, label: t.webhooks.views[value] }))}
          value={view}
          onChange={(chosen) => go(() => ({ view: chosen }))}
        />
      </StatusLine>
      {view === 'deliveries' && <DeliveriesView {...parts} search={search} go={go} mayOpen={mayChange} />}
      {view === 'charts' && (
        <EndpointCharts
          {...parts}
          hours={search.hours ?? 24}
          choose={(hours) => go((before) => ({ ...before, hours }))}
        />
      )}
      {view === 'settings' && <EndpointFacts endpoint={endpoint} />}
      <EndpointDialogs {...parts} dialog={dialog} close={() => setDialog(null)} />
    </>
  )
}
