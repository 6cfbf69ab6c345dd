import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconDots, IconPlayerPause, IconPlayerPlay, IconSettings, IconTrash } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Failure } from '../../api/failure.ts'
import { type Connection, useConnectionActs, useConnections, useTrafficNews } from '../../data/connections.ts'
import { mayIn } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { complain, say, sayWithUndo } from '../../ui/overlay/notices.tsx'
import { BackLink } from '../../ui/page/BackLink.tsx'
import { ErrorNotice } from '../../ui/page/ErrorNotice.tsx'
import { Loaded, PageBody } from '../../ui/page/PageBody.tsx'
import { PageHeader } from '../../ui/page/PageHeader.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { ConnectionFacts } from './ConnectionFacts.tsx'
import styles from './detail.module.css'
import { RiskSection } from './RiskSection.tsx'
import { SessionSection } from './SessionSection.tsx'
import { SettingsPanel } from './SettingsPanel.tsx'
import { FailureSection, StateSection } from './StateSection.tsx'
import { TemplateSection } from './TemplateSection.tsx'

/** One number: how it does, what to do about it, and everything that can be changed of it. */
export function ConnectionPage() {
  const workspaceId = useWorkspaceId()
  const { connectionId } = useParams({ strict: false })
  const query = useConnections(workspaceId)
  const connection = query.data?.find(({ id }) => id === connectionId)
  const mayChange = mayIn(workspaceId, 'admin')
  const before = <BackLink path="connections" label={t.connections.title} />
  return (
    <>
      <PageHeader
        title={connection?.name ?? t.connections.title}
        before={before}
        action={connection && mayChange && <Actions connection={connection} />}
      />
      <PageBody>
        <Loaded query={query}>
          {() =>
            connection === undefined ? (
              <ErrorNotice error={new Failure(404, '')} />
            ) : (
              <Details connection={connection} mayChange={mayChange} />
            )
          }
        </Loaded>
      </PageBody>
    </>
  )
}

interface DetailsProps {
  connection: Connection
  mayChange: boolean
}

function Details({ connection, mayChange }: DetailsProps) {
  const workspaceId = useWorkspaceId()
  const isSession = connection.channel === 'unofficial'
  useTrafficNews(workspaceId, connection.id)
  return (
    <div className={styles.columns}>
      <div className={styles.main}>
        <StateSection connection={connection} />
        {isSession && <SessionSection connection={connection} mayChange={mayChange} />}
        {isSession && <RiskSection connection={connection} />}
        <FailureSection connection={connection} />
        {!isSession && <TemplateSection connection={connection} mayChange={mayChange} />}
      </div>
      <ConnectionFacts connection={connection} />
    </div>
  )
}

function Actions({ connection }: { connection: Connection }) {
  const workspaceId = useWorkspaceId()
  const [open, setOpen] = useState<'settings' | 'remove' | null>(null)
  const { act, busy } = usePauseAndResume(workspaceId, connection)
  const texts = t.connections
  const canResume = connection.state !== 'active' && !['never_paired', 'pairing'].includes(connection.stateReason ?? '')
  return (
    <>
      {connection.state === 'active' && (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={16} />}
          onClick={() => act('pause')}
          loading={busy}
        >
          {texts.pause}
        </Button>
      )}
      {canResume && (
        <Button leftSection={<IconPlayerPlay size={16} />} onClick={() => act('resume')} loading={busy}>
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
      {open === 'remove' && <RemoveAsk connection={connection} close={() => setOpen(null)} />}
    </>
  )
}

function usePauseAndResume(workspaceId: string, { id, name }: Connection) {
  const { pause, resume } = useConnectionActs(workspaceId)
  const run = useMutation({
    mutationFn: (what: 'pause' | 'resume') => (what === 'pause' ? pause(id) : resume(id)),
    onError: complain,
    onSuccess: ({ state }, what) => {
      if (what === 'pause') sayWithUndo(t.connections.isPaused({ name }), () => run.mutate('resume'))
      else if (state === 'active') say(t.connections.sendsAgain({ name }))
    },
  })
  return { act: (what: 'pause' | 'resume') => run.mutate(what), busy: run.isPending }
}

function RemoveAsk({ connection, close }: { connection: Connection; close(): void }) {
  const workspaceId = useWorkspaceId()
  const { remove } = useConnectionActs(workspaceId)
  const navigate = useNavigate()
  const { removeAsk, removeHelp, remove: action, removed } = t.connections
  const run = () =>
    remove(connection.id).then(() => {
      say(removed({ name: connection.name }))
      return navigate({ to: '/w/$workspaceId/connections', params: { workspaceId } })
    }, complain)
  return (
    <Confirm
      title={removeAsk({ name: connection.name })}
      action={action}
      word={connection.name}
      run={run}
      close={close}
    >
      {removeHelp}
    </Confirm>
  )
}
