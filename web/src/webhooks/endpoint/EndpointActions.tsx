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
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { disableEndpoint, type Endpoint, removeEndpoint } from '../../data/webhooks.ts'
import { t } from '../../text/index.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { complain, say } from '../../ui/overlay/notices.tsx'
import { useIsPhone } from '../../ui/use-is-phone.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { EndpointPanel } from '../EndpointPanel.tsx'
import { SecretValue } from '../SecretValue.tsx'
import { useEndpointChanged, useEndpointGone } from '../use-changed.ts'
import { nameOf } from '../words.ts'
import { EnablePanel } from './EnablePanel.tsx'
import type { EndpointAsk } from './endpoint-ask.ts'
import { ReplayPanel } from './ReplayPanel.tsx'
import { RotateAsk } from './RotateAsk.tsx'
import { TestPanel } from './TestPanel.tsx'

export function EndpointActions({ endpoint, ask }: { endpoint: Endpoint; ask(what: EndpointAsk): void }) {
  const isActive = endpoint.state === 'active'
  const isPhone = useIsPhone()
  const [main, MainIcon] = isActive ? [t.webhooks.test, IconSend] : [t.webhooks.enable, IconPlayerPlay]
  const item = (what: EndpointAsk, label: string, Icon: typeof IconEdit) => (
    <Menu.Item leftSection={<Icon size={16} />} onClick={() => ask(what)}>
      {label}
    </Menu.Item>
  )
  return (
    <Group gap="xs" wrap="nowrap">
      {isPhone ? (
        <ActionIcon size={36} aria-label={main} onClick={() => ask(isActive ? 'test' : 'enable')}>
          <MainIcon size={18} />
        </ActionIcon>
      ) : (
        <Button leftSection={<MainIcon size={16} />} onClick={() => ask(isActive ? 'test' : 'enable')}>
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

interface EndpointDialogsProps {
  endpoint: Endpoint
  asks: EndpointAsk | null
  close(): void
}

/** What opens when something was asked for. */
export function EndpointDialogs({ endpoint, asks, close }: EndpointDialogsProps) {
  const workspaceId = useWorkspaceId()
  const changed = useEndpointChanged(workspaceId)
  const [secret, setSecret] = useState<string | null>(null)
  const done = (answer: Endpoint | null, message: string) => {
    changed(answer)
    close()
    say(message)
  }
  const parts = { workspaceId, endpoint, close }
  return (
    <>
      {asks === 'test' && <TestPanel endpointId={endpoint.id} close={close} changed={() => changed(null)} />}
      {asks === 'edit' && <EndpointPanel {...parts} saved={(answer) => done(answer, t.webhooks.saved)} />}
      {asks === 'replay' && <ReplayPanel {...parts} begun={() => done(null, t.webhooks.replayBegun)} />}
      {asks === 'enable' && <EnablePanel {...parts} enabled={(answer) => done(answer, t.webhooks.enabled)} />}
      {asks === 'rotate' && (
        <RotateAsk
          {...parts}
          rotated={(answer) => {
            changed(answer.endpoint)
            close()
            setSecret(answer.secret)
          }}
        />
      )}
      {asks === 'disable' && <DisableAsk {...parts} done={done} />}
      {asks === 'remove' && <RemoveAsk {...parts} />}
      {secret !== null && <SecretValue name={nameOf(endpoint)} secret={secret} close={() => setSecret(null)} />}
    </>
  )
}

type AskProps = Omit<EndpointDialogsProps, 'asks'>

function DisableAsk(props: AskProps & { done(answer: Endpoint, message: string): void }) {
  const workspaceId = useWorkspaceId()
  const { endpoint, close, done } = props
  const run = () =>
    disableEndpoint(workspaceId, endpoint.id).then((answer) => done(answer.endpoint, t.webhooks.disabled), complain)
  return (
    <Confirm title={t.webhooks.disableAsk} action={t.webhooks.disable} run={run} close={close}>
      {t.webhooks.disableHelp}
    </Confirm>
  )
}

function RemoveAsk({ endpoint, close }: AskProps) {
  const workspaceId = useWorkspaceId()
  const gone = useEndpointGone(workspaceId)
  const navigate = useNavigate()
  const name = nameOf(endpoint)
  const run = () =>
    removeEndpoint(workspaceId, endpoint.id).then(async () => {
      await navigate({ to: '/w/$workspaceId/webhooks', params: { workspaceId } })
      gone(endpoint.id)
      say(t.webhooks.removed({ name }))
    }, complain)
  return (
    <Confirm title={t.webhooks.removeAsk({ name })} action={t.webhooks.remove} word={name} run={run} close={close}>
      {t.webhooks.removeHelp}
    </Confirm>
  )
}
