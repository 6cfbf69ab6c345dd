import { ActionIcon, Button, Group, Menu } from '@mantine/core'
import {
  IconDots,
  IconEdit,
  IconKey,
  IconPlayerPause,
  IconPlayerPlay,
  IconRepeat,
  IconSend,
  IconTrash,
} from '@tabler/icons-react'
import { useParams, useSearch } from '@tanstack/react-router'
import { type ReactNode, useMemo, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { type Endpoint, useEndpoints, useReplays } from '../../data/webhooks.ts'
import { hasRole } from '../../session/session.ts'
import { CreatedBy } from '../../shared/CreatedBy.tsx'
import { t } from '../../text/index.ts'
import { formatDateTime, formatShortTime } from '../../ui/format/time.ts'
import { BackLink } from '../../ui/page/BackLink.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { Facts } from '../../ui/page/Facts.tsx'
import { PageBody, QueryBoundary } from '../../ui/page/PageBody.tsx'
import { PageHeader } from '../../ui/page/PageHeader.tsx'
import { Segments } from '../../ui/page/Segments.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { useIsPhone } from '../../ui/use-is-phone.ts'
import { useChangeSearch } from '../../ui/use-newest-search.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { DeliveriesView } from '../deliveries/DeliveriesView.tsx'
import { EndpointStatusChip } from '../EndpointTable.tsx'
import { type EndpointSearch, endpointViews, readEndpointSearch } from '../search.ts'
import { dueNow } from '../status.ts'
import { useAfterDeliveries, useLiveEndpoints, useWhenDue } from '../use-live-updates.ts'
import { endpointStatusSentence, nameOf, patternName } from '../webhook-texts.ts'
import { EndpointCharts } from './EndpointCharts.tsx'
import { type EndpointDialog, EndpointDialogs } from './EndpointDialogs.tsx'
import styles from './EndpointPage.module.css'

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
  return (
    <>
      <PageHeader
        title={nameOf(endpoint)}
        before={<BackLink path="webhooks" label={t.webhooks.title} />}
        action={mayChange && <EndpointActions endpoint={endpoint} openDialog={setDialog} />}
      />
      <StatusLine endpoint={endpoint}>
        <Segments
          label={t.webhooks.endpoint}
          data={endpointViews.map((value) => ({ value, label: t.webhooks.views[value] }))}
          value={view}
          onChange={(chosen) => go(() => ({ view: chosen }))}
        />
      </StatusLine>
      {view === 'deliveries' && <DeliveriesView endpoint={endpoint} search={search} go={go} mayOpen={mayChange} />}
      {view === 'charts' && (
        <EndpointCharts
          endpoint={endpoint}
          hours={search.hours ?? 24}
          choose={(hours) => go((before) => ({ ...before, hours }))}
        />
      )}
      {view === 'settings' && <EndpointFacts endpoint={endpoint} />}
      <EndpointDialogs endpoint={endpoint} dialog={dialog} close={() => setDialog(null)} />
    </>
  )
}

interface EndpointActionsProps {
  endpoint: Endpoint
  openDialog(what: EndpointDialog): void
}

function EndpointActions({ endpoint, openDialog }: EndpointActionsProps) {
  const isActive = endpoint.state === 'active'
  const isPhone = useIsPhone()
  const [main, MainIcon] = isActive ? [t.webhooks.test, IconSend] : [t.webhooks.enable, IconPlayerPlay]
  const openMain = () => openDialog(isActive ? 'test' : 'enable')
  const item = (what: EndpointDialog, label: string, Icon: typeof IconEdit) => (
    <Menu.Item leftSection={<Icon size={16} />} onClick={() => openDialog(what)}>
      {label}
    </Menu.Item>
  )
  return (
    <Group gap="xs" wrap="nowrap">
      {isPhone ? (
        <ActionIcon size={36} aria-label={main} onClick={openMain}>
          <MainIcon size={18} />
        </ActionIcon>
      ) : (
        <Button leftSection={<MainIcon size={16} />} onClick={openMain}>
          {main}
        </Button>
      )}
      <Menu position="bottom-end" width={230}>
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={t.common.more}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {item('edit', t.webhooks.edit, IconEdit)}
          {isActive && item('replay', t.webhooks.replay, IconRepeat)}
          {item('rotate', t.webhooks.rotate, IconKey)}
          {isActive && item('disable', t.webhooks.disable, IconPlayerPause)}
          <Menu.Divider />
          {item('remove', t.webhooks.remove, IconTrash)}
        </Menu.Dropdown>
      </Menu>
    </Group>
  )
}

/** Status of the endpoint as a sentence, above its page. */
function StatusLine({ endpoint, children }: { endpoint: Endpoint; children: ReactNode }) {
  const { waiting, nextAttemptAt } = endpoint.health
  return (
    <div className={styles.status}>
      <div className={styles.text}>
        <EndpointStatusChip endpoint={endpoint} />
        <span>{endpointStatusSentence(endpoint)}</span>
        {waiting > 0 && <span>{t.webhooks.pendingCount({ count: waiting })}</span>}
        {nextAttemptAt !== null && <span>{t.webhooks.nextTry({ at: formatShortTime(nextAttemptAt) })}</span>}
        <OpenReplays endpointId={endpoint.id} />
      </div>
      {children}
    </div>
  )
}

function OpenReplays({ endpointId }: { endpointId: string }) {
  const workspaceId = useWorkspaceId()
  const { data = [], refetch } = useReplays(workspaceId, endpointId)
  const open = data.filter(({ finishedAt }) => finishedAt === null)
  useWhenDue(open.length > 0 ? dueNow : null, () => void refetch())
  useAfterDeliveries(5000, () => void (open.length > 0 && refetch()))
  return open.map(({ id, queued }) => (
    <span key={id} className={styles.replay} role="status">
      {t.webhooks.replayOpen({ count: queued })}
    </span>
  ))
}

function EndpointFacts({ endpoint }: { endpoint: Endpoint }) {
  const { url, description, events, phoneVisibility, headerNames, secrets, health } = endpoint
  const until = secrets.oldUntil === null ? [] : [t.webhooks.secretUntil({ until: formatDateTime(secrets.oldUntil) })]
  return (
    <PageBody narrow>
      <div className={styles.card}>
        <Facts
          facts={[
            [
              t.webhooks.url,
              <code key="url" className={styles.url}>
                {url}
              </code>,
            ],
            [t.webhooks.description, description ?? '–'],
            [t.webhooks.events, events.map(patternName).join(', ')],
            [t.webhooks.phones, phoneVisibility === 'full' ? t.webhooks.phonesFull : t.webhooks.phonesMasked],
            [t.webhooks.headers, headerNames.length === 0 ? t.common.none : headerNames.join(', ')],
            [t.webhooks.secret, [t.webhooks.secretValid({ count: secrets.valid }), ...until].join(' · ')],
            [
              t.webhooks.lastSuccess,
              health.lastSuccessAt === null ? t.webhooks.never : formatDateTime(health.lastSuccessAt),
            ],
            [t.webhooks.created, formatDateTime(endpoint.createdAt)],
            [t.settings.createdBy, <CreatedBy key="by" id={endpoint.createdBy} />],
          ]}
        />
      </div>
    </PageBody>
  )
}
