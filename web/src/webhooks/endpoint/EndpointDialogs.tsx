import { Checkbox, Radio, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import {
  disableEndpoint,
  type Endpoint,
  enableEndpoint,
  type Replay,
  removeEndpoint,
  replay,
  rotateSecret,
} from '../../data/webhooks.ts'
import { t } from '../../text/index.ts'
import { localInput, readLocalInput } from '../../ui/format/local-time.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { EndpointPanel } from '../EndpointPanel.tsx'
import { SecretValue } from '../SecretValue.tsx'
import { useRemoveEndpointFromCache, useUpdateEndpointCache } from '../update-cache.ts'
import { nameOf } from '../webhook-texts.ts'
import { TestPanel } from './TestPanel.tsx'

/** Action on an endpoint that is being filled in or confirmed. */
export type EndpointDialog = 'test' | 'edit' | 'replay' | 'rotate' | 'enable' | 'disable' | 'remove'

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
  const parts = { endpoint, close }
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
      {dialog === 'disable' && (
        <Confirm
          title={t.webhooks.disableConfirm}
          action={t.webhooks.disable}
          run={() =>
            disableEndpoint(workspaceId, endpoint.id).then(
              (response) => done(response.endpoint, t.webhooks.disabled),
              showError,
            )
          }
          close={close}
        >
          {t.webhooks.disableHelp}
        </Confirm>
      )}
      {dialog === 'remove' && <RemoveDialog {...parts} />}
      {secret !== null && <SecretValue name={nameOf(endpoint)} secret={secret} close={() => setSecret(null)} />}
    </>
  )
}

function RemoveDialog({ endpoint, close }: Omit<EndpointDialogsProps, 'dialog'>) {
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

interface EnablePanelProps {
  endpoint: Endpoint
  close(): void
  onEnabled(response: Endpoint): void
}

/** Enables an endpoint, and optionally redelivers events since it stopped or started to fail. */
function EnablePanel({ endpoint, close, onEnabled }: EnablePanelProps) {
  const workspaceId = useWorkspaceId()
  const since = endpoint.health.failingSince ?? endpoint.stateChangedAt
  const draft = useDraft({ isMissed: true, sendSince: localInput(since) })
  const { value, set, errorOf } = draft
  const enable = useMutation({
    mutationFn: () =>
      enableEndpoint(workspaceId, endpoint.id, value.isMissed ? readLocalInput(value.sendSince, since) : null),
    onSuccess: (response) => onEnabled(response.endpoint),
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={t.webhooks.enableConfirm}
      close={close}
      submit={() => enable.mutate()}
      footer={<PanelButtons close={close} action={t.webhooks.enable} isBusy={enable.isPending} />}
    >
      <Text size="sm">{t.webhooks.enableHelp}</Text>
      <Checkbox
        label={t.webhooks.enableMissed}
        checked={value.isMissed}
        onChange={(event) => set({ isMissed: event.currentTarget.checked })}
      />
      <TextInput
        type="datetime-local"
        step={1}
        aria-label={t.webhooks.enableMissed}
        disabled={!value.isMissed}
        value={value.sendSince}
        onChange={(event) => set({ sendSince: event.currentTarget.value })}
        error={errorOf('sendSince')}
      />
    </SidePanel>
  )
}

interface ReplayPanelProps {
  endpoint: Endpoint
  close(): void
  onStarted(): void
}

const dayMs = 24 * 3_600_000

/** Redelivers events of a time range, for receivers that lost or missed them. */
function ReplayPanel({ endpoint, close, onStarted }: ReplayPanelProps) {
  const workspaceId = useWorkspaceId()
  const dayAgo = new Date(Date.now() - dayMs).toISOString()
  const draft = useDraft({ from: localInput(dayAgo), to: '', scope: 'undelivered' as Replay['scope'] })
  const { value, set, errorOf } = draft
  const start = useMutation({
    mutationFn: () => {
      const to = value.to === '' ? {} : { to: readLocalInput(value.to, value.to) }
      return replay(workspaceId, endpoint.id, { from: readLocalInput(value.from, dayAgo), scope: value.scope, ...to })
    },
    onSuccess: onStarted,
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={t.webhooks.replay}
      close={close}
      submit={() => start.mutate()}
      footer={<PanelButtons close={close} action={t.webhooks.replayAction} isBusy={start.isPending} />}
    >
      <Text size="sm">{t.webhooks.replayHelp}</Text>
      <TextInput
        type="datetime-local"
        label={t.webhooks.replayFrom}
        value={value.from}
        onChange={(event) => set({ from: event.currentTarget.value })}
        error={errorOf('from')}
      />
      <TextInput
        type="datetime-local"
        label={t.webhooks.replayTo}
        description={t.webhooks.replayToHelp}
        value={value.to}
        onChange={(event) => set({ to: event.currentTarget.value })}
        error={errorOf('to')}
      />
      <Radio.Group
        label={t.webhooks.replayScope}
        value={value.scope}
        onChange={(scope) => set({ scope: scope as Replay['scope'] })}
      >
        <Stack gap={6} mt={4}>
          <Radio value="undelivered" label={t.webhooks.replayScopes.undelivered} />
          <Radio value="all" label={t.webhooks.replayScopes.all} />
        </Stack>
      </Radio.Group>
    </SidePanel>
  )
}

interface RotateDialogProps {
  endpoint: Endpoint
  close(): void
  onRotated(response: { endpoint: Endpoint; secret: string }): void
}

function RotateDialog({ endpoint, close, onRotated }: RotateDialogProps) {
  const workspaceId = useWorkspaceId()
  const [hours, setHours] = useState('24')
  const run = () => rotateSecret(workspaceId, endpoint.id, Number(hours)).then(onRotated, showError)
  return (
    <Confirm title={t.webhooks.rotateConfirm} action={t.webhooks.rotate} run={run} close={close}>
      {t.webhooks.rotateHelp}
      <Select
        mt="md"
        label={t.webhooks.rotateOverlap}
        data={Object.entries(t.webhooks.overlaps).map(([value, label]) => ({ value, label }))}
        value={hours}
        onChange={(chosen) => setHours(chosen ?? '24')}
        allowDeselect={false}
      />
    </Confirm>
  )
}
