import { useParams, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { Failure } from '../../api/failure.ts'
import { type Endpoint, useEndpoints } from '../../data/webhooks.ts'
import { mayIn } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { useKeys } from '../../ui/keys.ts'
import { BackLink } from '../../ui/page/BackLink.tsx'
import { ErrorNotice } from '../../ui/page/ErrorNotice.tsx'
import { Loaded } from '../../ui/page/PageBody.tsx'
import { PageHeader } from '../../ui/page/PageHeader.tsx'
import { Segments } from '../../ui/page/Segments.tsx'
import { useChangeSearch } from '../../ui/use-newest-search.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { DeliveriesView } from '../deliveries/DeliveriesView.tsx'
import { type EndpointSearch, endpointViews, readEndpointSearch } from '../search.ts'
import { useFreshEndpoints } from '../use-fresh.ts'
import { nameOf } from '../words.ts'
import { EndpointActions, EndpointDialogs } from './EndpointActions.tsx'
import { EndpointCharts } from './EndpointCharts.tsx'
import { EndpointFacts } from './EndpointFacts.tsx'
import type { EndpointAsk } from './endpoint-ask.ts'
import { StandingLine } from './StandingLine.tsx'

/** One endpoint: what it was sent, how that went over time, and how it is set. */
export function EndpointPage() {
  const workspaceId = useWorkspaceId()
  const { endpointId = '' } = useParams({ strict: false })
  const query = useEndpoints(workspaceId)
  useFreshEndpoints(workspaceId, query.data)
  const endpoint = query.data?.find(({ id }) => id === endpointId)
  if (endpoint !== undefined) return <OneEndpoint key={endpointId} endpoint={endpoint} />
  return (
    <>
      <PageHeader title={t.webhooks.title} before={<BackLink path="webhooks" label={t.webhooks.title} />} />
      <Loaded query={query}>{() => <ErrorNotice error={new Failure(404, '')} />}</Loaded>
    </>
  )
}

function OneEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const workspaceId = useWorkspaceId()
  const search: EndpointSearch = useSearch({ strict: false })
  const [asks, setAsks] = useState<EndpointAsk | null>(null)
  const mayChange = mayIn(workspaceId, 'admin')
  const view = search.view ?? 'deliveries'
  const changeSearch = useChangeSearch(readEndpointSearch)
  const go = (next: (before: EndpointSearch) => EndpointSearch) => changeSearch(next, { replace: true })
  const isActive = endpoint.state === 'active'
  useKeys(
    t.webhooks.endpoint,
    useMemo(() => {
      if (!mayChange) return []
      const edit = { keys: 'e', label: t.webhooks.edit, run: () => setAsks('edit') }
      return isActive ? [{ keys: 't', label: t.webhooks.test, run: () => setAsks('test') }, edit] : [edit]
    }, [mayChange, isActive]),
  )
  const parts = { workspaceId, endpoint }
  return (
    <>
      <PageHeader
        title={nameOf(endpoint)}
        before={<BackLink path="webhooks" label={t.webhooks.title} />}
        action={mayChange && <EndpointActions endpoint={endpoint} ask={setAsks} />}
      />
      <StandingLine {...parts}>
        <Segments
          label={t.webhooks.endpoint}
          data={endpointViews.map((value) => ({ value, label: t.webhooks.views[value] }))}
          value={view}
          onChange={(chosen) => go(() => ({ view: chosen }))}
        />
      </StandingLine>
      {view === 'deliveries' && <DeliveriesView {...parts} search={search} go={go} mayOpen={mayChange} />}
      {view === 'charts' && (
        <EndpointCharts
          {...parts}
          hours={search.hours ?? 24}
          choose={(hours) => go((before) => ({ ...before, hours }))}
        />
      )}
      {view === 'settings' && <EndpointFacts endpoint={endpoint} />}
      <EndpointDialogs {...parts} asks={asks} close={() => setAsks(null)} />
    </>
  )
}
