import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconDots, IconPlayerPause, IconPlayerPlay, IconSettings, IconTrash } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import {
  type Connection,
  useConnectionActions,
  useConnections,
  useHealth,
  useLiveTraffic,
} from '../../data/connections.ts'
import { hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, timeAgo } from '../../ui/format/time.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { showError, showToast, showUndoToast } from '../../ui/overlay/toasts.tsx'
import { BackLink } from '../../ui/page/BackLink.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { PageBody, QueryBoundary } from '../../ui/page/PageBody.tsx'
import { PageHeader } from '../../ui/page/PageHeader.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { CheckSection } from '../check/CheckSection.tsx'
import { isInSetup } from '../check/step-texts.ts'
import { StateChip } from '../parts/facts.tsx'
import { Section } from '../parts/Section.tsx'
import { adviceText } from '../parts/state-texts.ts'
import { WidgetSection } from '../website/WidgetSection.tsx'
import { BillingSection } from './BillingSection.tsx'
import { ConnectionFacts, NumberSection } from './ConnectionFacts.tsx'
import styles from './detail.module.css'
import { RiskSection, SessionSection } from './SessionSection.tsx'
import { SettingsPanel } from './SettingsPanel.tsx'
import { TemplateSection } from './TemplateSection.tsx'

export function ConnectionPage() {
  const workspaceId = useWorkspaceId()
  const { connectionId } = useParams({ strict: false })
  const query = useConnections(workspaceId)
  const connection = query.data?.find(({ id }) => id === connectionId)
  const mayChange = hasRole(workspaceId, 'admin')
  const before = <BackLink path="connections" label={t.connections.title} />
  return (
    <>
      <PageHeader
        title={connection?.name ?? t.connections.title}
        before={before}
        action={connection && mayChange && <Actions connection={connection} />}
      />
      <PageBody>
        <QueryBoundary query={query}>
          {() =>
            connection === undefined ? (
              <ErrorState error={new ApiError(404, '')} />
            ) : (
              <Details connection={connection} mayChange={mayChange} />
            )
          }
        </QueryBoundary>
      </PageBody>
    </>
  )
}

function Details({ connection, mayChange }: { connection: Connection; mayChange: boolean }) {
  const workspaceId = useWorkspaceId()
  const isSession = connection.channel === 'unofficial'
  const isOfficial = !isSession && connection.channel !== 'website'
  const isNew = mayChange && isInSetup(connection)
  useLiveTraffic(workspaceId, connection.id)
  return (
    <div className={styles.columns}>
      <div className={styles.main}>
        {!isNew && <StateSection connection={connection} />}
        {mayChange && <CheckSection connection={connection} />}
        <WidgetSection connection={connection} mayChange={mayChange} />
        <NumberSection connection={connection} />
        {isSession && <SessionSection connection={connection} mayChange={mayChange} />}
        {isSession && <RiskSection connection={connection} />}
        <FailureSection connection={connection} />
        {isOfficial && !isNew && mayChange && <BillingSection connection={connection} />}
        {isOfficial && !isNew && <TemplateSection connection={connection} mayChange={mayChange} />}
      </div>
      <ConnectionFacts connection={connection} />
    </div>
  )
}

function Actions({ connection }: { connection: Connection }) {
  const workspaceId = useWorkspaceId()
  const [open, setOpen] = useState<'settings' | 'remove' | null>(null)
  const { currentAction, busy } = usePauseAndResume(workspaceId, connection)
  const texts = t.connections
  const isPending = ['never_paired', 'pairing', 'setup'].includes(connection.stateReason ?? '')
  const canResume = connection.state !== 'active' && !isPending
  return (
    <>
      {connection.state === 'active' && (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={16} />}
          onClick={() => currentAction('pause')}
          loading={busy}
        >
          {texts.pause}
        </Button>
      )}
      {canResume && (
        <Button leftSection={<IconPlayerPlay size={16} />} onClick={() => currentAction('resume')} loading={busy}>
          {connection.state === 'paused' ? texts.resume : texts.checkAgain}
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={t.common.more}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconSettings size={16} />} onClick={() => setOpen('settings')}>
            {texts.settings}
          </Menu.Item>
          <Menu.Item color="red" leftSection={<IconTrash size={16} />} onClick={() => setOpen('remove')}>
            {texts.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {open === 'settings' && <SettingsPanel connection={connection} close={() => setOpen(null)} />}
      {open === 'remove' && <RemoveDialog connection={connection} close={() => setOpen(null)} />}
    </>
  )
}

function usePauseAndResume(workspaceId: string, { id, name }: Connection) {
  const { pause, resume } = useConnectionActions(workspaceId)
  const run = useMutation({
    mutationFn: (what: 'pause' | 'resume') => (what === 'pause' ? pause(id) : resume(id)),
    onError: showError,
    onSuccess: ({ state }, what) => {
      if (what === 'pause') showUndoToast(t.connections.isPaused({ name }), () => run.mutate('resume'))
      else if (state === 'active') showToast(t.connections.sendsAgain({ name }))
    },
  })
  return { currentAction: (what: 'pause' | 'resume') => run.mutate(what), busy: run.isPending }
}

function RemoveDialog({ connection, close }: { connection: Connection; close(): void }) {
  const workspaceId = useWorkspaceId()
  const { remove } = useConnectionActions(workspaceId)
  const navigate = useNavigate()
  const { removeConfirm, removeHelp, remove: action, removed } = t.connections
  const run = () =>
    remove(connection.id).then(() => {
      showToast(removed({ name: connection.name }))
      return navigate({ to: '/w/$workspaceId/connections', params: { workspaceId } })
    }, showError)
  return (
    <Confirm
      title={removeConfirm({ name: connection.name })}
      action={action}
      confirmText={connection.name}
      run={run}
      close={close}
    >
      {removeHelp}
    </Confirm>
  )
}

/** State of the connection, since when, and what to do next. */
function StateSection({ connection }: { connection: Connection }) {
  const workspaceId = useWorkspaceId()
  const { data } = useHealth(workspaceId, connection.id)
  const { stateTitle, since, healthy } = t.connections
  return (
    <Section title={stateTitle} action={<StateChip connection={connection} />}>
      <p className={styles.muted}>{since({ at: formatDateTime(connection.stateChangedAt) })}</p>
      <HealthAdvice connection={connection} />
      {data?.advice.length === 0 && <p className={styles.line}>{healthy}</p>}
    </Section>
  )
}

/** Failures of the last 24 hours by code, with advice for each. Renders nothing without failures. */
function FailureSection({ connection }: { connection: Connection }) {
  const workspaceId = useWorkspaceId()
  const { data } = useHealth(workspaceId, connection.id)
  if (data === undefined || data.failures.length === 0) return null
  const { failures } = t.connections
  return (
    <Section title={failures.title}>
      <ul className={styles.failures}>
        {data.failures.map(({ code, count, lastAt, advice }) => (
          <li key={code}>
            <strong>{failures.count({ n: count })}</strong>
            <div>
              <code>{code}</code> <span title={formatDateTime(lastAt)}>{timeAgo(lastAt)}</span>
            </div>
            <p>{adviceText({ code, text: advice })}</p>
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** Advice about a connection; renders nothing if it is healthy. */
function HealthAdvice({ connection: { id } }: { connection: Connection }) {
  const { data } = useHealth(useWorkspaceId(), id)
  if (data === undefined || data.advice.length === 0) return null
  return (
    <ul className={styles.advice}>
      {data.advice.map((one) => (
        <li key={one.code}>{adviceText(one)}</li>
      ))}
    </ul>
  )
}
