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
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { useIsPhone } from '../../ui/use-is-phone.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { EndpointPanel } from '../EndpointPanel.tsx'
import { SecretValue } from '../SecretValue.tsx'
import { useRemoveEndpointFromCache, useUpdateEndpointCache } from '../update-cache.ts'
import { nameOf } from '../webhook-texts.ts'
import { EnablePanel } from './EnablePanel.tsx'
import type { EndpointDialog } from './endpoint-dialog.ts'
import { ReplayPanel } from './ReplayPanel.tsx'
import { RotateDialog } from './RotateDialog.tsx'
import { TestPanel } from './TestPanel.tsx'

export function EndpointActions({
  endpoint,
  openDialog,
}: {
  endpoint: Endpoint
  openDialog(what: EndpointDialog): void
}) {
  const isActive = endpoint.state === 'active'
  const isPhone = useIsPhone()
  const [main, MainIcon] = isActive ? [t.webhooks.test, IconSend] : [t.webhooks.enable, IconPlayerPlay]
  const item = (what: EndpointDialog, label: string, Icon: typeof IconEdit) => (
    <Menu.Item leftSection={<Icon size={16} />} onClick={() => openDialog(what)}>
      {label}
    </Menu.Item>
  )
  return (
    <Group gap="xs" wrap="nowrap">
      {isPhone ? (
        <ActionIcon size={36} aria-label={main} onClick={() => openDialog(isActive ? 'test' : 'enable')}>
          <MainIcon size={18} />
        </ActionIcon>
      ) : (
        <Button leftSection={<MainIcon size={16} />} onClick={() => openDialog(isActive ? 'test' : 'enable')}>
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
  dialog: EndpointDialog | null
  close(): void
}

/** Dialogs for actions on an endpoint. */
export function EndpointDialogs({ endpoint, dialog, close }: EndpointDialogsProps) {
  const workspaceId = useWorkspaceId()
  const changed = useUpdateEndpointCache(workspaceId)
  const [secret, setSecret] = useState<string | null>(null)
  const done = (response: Endpoint | null, message: string) => {
    changed(response)
    close()
    showToast(message)
  }
  const parts = { workspaceId, endpoint, close }
  return (
    <>
      {dialog === 'test' && <TestPanel endpointId={endpoint.id} close={close} onChanged={() => changed(null)} />}
      {dialog === 'edit' && <EndpointPanel {...parts} onSaved={(response) => done(response, t.webhooks.saved)} />}
      {dialog === 'replay' && <ReplayPanel {...parts} onStarted={() => done(null, t.webhooks.replayStarted)} />}
      {dialog === 'enable' && <EnablePanel {...parts} onEnabled={(response) => done(response, t.webhooks.enabled)} />}
      {dialog === 'rotate' && (
        <RotateDialog
          {...parts}
          onRotated={(response) => {
            changed(response.endpoint)
            close()
            setSecret(response.secret)
          }}
        />
      )}
      {dialog === 'disable' && <DisableDialog {...parts} done={done} />}
      {dialog === 'remove' && <RemoveDialog {...parts} />}
      {secret !== null && <SecretValue name={nameOf(endpoint)} secret={secret} close={() => setSecret(null)} />}
    </>
  )
}

type DialogProps = Omit<EndpointDialogsProps, 'dialog'>

function DisableDialog(props: DialogProps & { done(response: Endpoint, message: string): void }) {
  const workspaceId = useWorkspaceId()
  const { endpoint, close, done } = props
  const run = () =>
    disableEndpoint(workspaceId, endpoint.id).then(
      (response) => done(response.endpoint, t.webhooks.disabled),
      showError,
    )
  return (
    <Confirm title={t.webhooks.disableConfirm} action={t.webhooks.disable} run={run} close={close}>
      {t.webhooks.disableHelp}
    </Confirm>
  )
}

function RemoveDialog({ endpoint, close }: DialogProps) {
  const workspaceId = useWorkspaceId()
  const removeFromCache = useRemoveEndpointFromCache(workspaceId)
  const navigate = useNavigate()
  const name = nameOf(endpoint)
  const run = () =>
    removeEndpoint(workspaceId, endpoint.id).then(async () => {
      await navigate({ to: '/w/$workspaceId/webhooks', params: { workspaceId } })
      removeFromCache(endpoint.id)
      showToast(t.webhooks.removed({ name }))
    }, showError)
  return (
    <Confirm
      title={t.webhooks.removeConfirm({ name })}
      action={t.webhooks.remove}
      confirmText={name}
      run={run}
      close={close}
    >
      {t.webhooks.removeHelp}
    </Confirm>
  )
}
