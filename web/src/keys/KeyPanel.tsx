import { Anchor, Button, Select, Switch } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useConnections } from '../data/connections.ts'
import { type ApiKey, changeKey, revokeKey, rotateKey, useInvalidateKeys } from '../data/keys.ts'
import { CreatedBy } from '../shared/CreatedBy.tsx'
import { t } from '../text/index.ts'
import { formatDateTime } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { Facts } from '../ui/page/Facts.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { EditKeyPanel } from './EditKeyPanel.tsx'
import { KeyApproval } from './KeyApproval.tsx'
import { KeyHistory } from './KeyHistory.tsx'
import { KeyInstructions } from './KeyInstructions.tsx'
import { KeyLimits } from './KeyLimits.tsx'
import { StatusChip } from './KeyTable.tsx'
import { KeyTools } from './KeyTools.tsx'
import { LastCalls } from './LastCalls.tsx'
import { mayAnswer } from './presets.ts'

interface KeyPanelProps {
  apiKey: ApiKey
  mayChange: boolean
  close(): void
  onRotated(response: { key: ApiKey; value: string }): void
  onRevoked(): void
}

const hourMs = 3_600_000

export function KeyPanel({ apiKey, mayChange, close, onRotated, onRevoked }: KeyPanelProps) {
  const workspaceId = useWorkspaceId()
  const [dialog, setDialog] = useState<'rotate' | 'revoke' | null>(null)
  const [isEditing, setEditing] = useState(false)
  const revoke = () =>
    revokeKey(workspaceId, apiKey.id).then(() => {
      showToast(t.keys.revoked({ name: apiKey.name }))
      onRevoked()
    }, showError)
  if (isEditing) return <EditKeyPanel apiKey={apiKey} close={() => setEditing(false)} />
  return (
    <SidePanel
      title={apiKey.name}
      close={close}
      size={600}
      footer={
        mayChange &&
        apiKey.status === 'active' && (
          <>
            <Button variant="light" color="red" mr="auto" onClick={() => setDialog('revoke')}>
              {t.keys.revoke}
            </Button>
            {apiKey.oauth === null && (
              <Button variant="default" onClick={() => setDialog('rotate')}>
                {t.keys.rotate}
              </Button>
            )}
            <Button variant="default" onClick={() => setEditing(true)}>
              {t.common.edit}
            </Button>
          </>
        )
      }
    >
      <KeyFacts apiKey={apiKey} />
      {mayAnswer(apiKey.scopes) && apiKey.status === 'active' && (
        <>
          <AnswersNewField apiKey={apiKey} mayChange={mayChange} />
          <KeyLimits apiKey={apiKey} mayChange={mayChange} />
          <KeyApproval apiKey={apiKey} mayChange={mayChange} />
          {mayChange && (
            <Anchor
              component={Link}
              to={`/w/${workspaceId}/review/numbers`}
              search={{ key: apiKey.id } as never}
              size="sm"
            >
              {t.keys.numbers}
            </Anchor>
          )}
        </>
      )}
      {apiKey.status === 'active' && (
        <>
          <KeyInstructions apiKey={apiKey} mayChange={mayChange} />
          <KeyTools apiKey={apiKey} mayChange={mayChange} />
        </>
      )}
      {mayChange && <KeyHistory apiKey={apiKey} />}
      <LastCalls keyId={apiKey.id} />
      {dialog === 'revoke' && (
        <Confirm
          title={t.keys.revokeConfirm({ name: apiKey.name })}
          action={t.keys.revoke}
          confirmText={apiKey.name}
          run={revoke}
          close={() => setDialog(null)}
        >
          {t.keys.revokeHelp}
        </Confirm>
      )}
      {dialog === 'rotate' && <RotateDialog apiKey={apiKey} close={() => setDialog(null)} onRotated={onRotated} />}
    </SidePanel>
  )
}

/** Whether new customers go to this key; saved immediately. */
function AnswersNewField({ apiKey, mayChange }: Pick<KeyPanelProps, 'apiKey' | 'mayChange'>) {
  const workspaceId = useWorkspaceId()
  const changed = useInvalidateKeys(workspaceId)
  const [answers, setAnswers] = useState(apiKey.answersNewConversations)
  const change = useMutation({
    mutationFn: (next: boolean) => changeKey(workspaceId, apiKey.id, { answersNewConversations: next }),
    onSuccess: changed,
    onError: (error, next) => {
      setAnswers(!next)
      showError(error)
    },
  })
  const set = (next: boolean) => {
    setAnswers(next)
    change.mutate(next)
  }
  return (
    <Switch
      label={t.keys.answersNew}
      description={t.keys.answersNewHelp}
      checked={answers}
      onChange={(event) => set(event.currentTarget.checked)}
      disabled={!mayChange}
    />
  )
}

function RotateDialog({ apiKey, close, onRotated }: Omit<KeyPanelProps, 'mayChange' | 'onRevoked'>) {
  const workspaceId = useWorkspaceId()
  const [hours, setHours] = useState('24')
  const rotate = useMutation({
    mutationFn: () => {
      const until = hours === '0' ? null : new Date(Date.now() + Number(hours) * hourMs).toISOString()
      return rotateKey(workspaceId, apiKey.id, until)
    },
    onSuccess: onRotated,
    onError: showError,
  })
  return (
    <Confirm title={t.keys.rotateConfirm} action={t.keys.rotate} run={() => rotate.mutateAsync()} close={close}>
      {t.keys.rotateHelp}
      <Select
        mt="md"
        label={t.keys.previous}
        data={Object.entries(t.keys.previousFor).map(([value, label]) => ({ value, label }))}
        value={hours}
        onChange={(chosen) => setHours(chosen ?? '24')}
        allowDeselect={false}
      />
    </Confirm>
  )
}

function KeyFacts({ apiKey }: { apiKey: ApiKey }) {
  const workspaceId = useWorkspaceId()
  const { data: connections = [] } = useConnections(workspaceId)
  const names = apiKey.connectionIds.map((id) => connections.find((one) => one.id === id)?.name ?? t.common.unknown)
  const moment = (at: string | null, fallback: string) => (at === null ? fallback : formatDateTime(at))
  const facts: [string, ReactNode][] = [
    [t.keys.status, <StatusChip key="status" status={apiKey.status} />],
    apiKey.oauth === null
      ? [t.keys.value, <code key="value">{apiKey.shown}</code>]
      : [t.keys.connectedApp, apiKey.oauth.redirectHost],
    [t.keys.permissions, apiKey.scopes.map((scope) => t.keys.scopes[scope]).join(', ')],
    [t.keys.connections, names.length === 0 ? t.common.all : names.join(', ')],
    [t.keys.phones, apiKey.phoneVisibility === 'full' ? t.keys.phonesFull : t.keys.phonesMasked],
    [t.keys.allowlist, apiKey.allowlist.length === 0 ? t.keys.anywhere : apiKey.allowlist.join(', ')],
    [t.keys.created, formatDateTime(apiKey.createdAt)],
    [t.settings.createdBy, <CreatedBy key="by" id={apiKey.createdBy} />],
    [t.keys.lastUsed, moment(apiKey.lastUsedAt, t.keys.never)],
    [t.keys.expires, moment(apiKey.expiresAt, t.keys.never)],
    ...(apiKey.previousValidUntil === null
      ? []
      : ([[t.keys.previous, formatDateTime(apiKey.previousValidUntil)]] as [string, ReactNode][])),
  ]
  return <Facts facts={facts} />
}
