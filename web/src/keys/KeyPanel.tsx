import { Button, Select, Switch } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useConnections } from '../data/connections.ts'
import { type ApiKey, changeKey, revokeKey, rotateKey, useKeysChanged } from '../data/keys.ts'
import { MadeBy } from '../shared/MadeBy.tsx'
import { t } from '../text/index.ts'
import { fullMoment } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { complain, say } from '../ui/overlay/notices.tsx'
import { Facts } from '../ui/page/Facts.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { EditKeyPanel } from './EditKeyPanel.tsx'
import { KeyLimits } from './KeyLimits.tsx'
import { StatusChip } from './KeyTable.tsx'
import { LastCalls } from './LastCalls.tsx'
import { mayAnswer } from './presets.ts'

interface KeyPanelProps {
  apiKey: ApiKey
  mayChange: boolean
  close(): void
  rotated(answer: { key: ApiKey; value: string }): void
  revoked(): void
}

const hourMs = 3_600_000

export function KeyPanel({ apiKey, mayChange, close, rotated, revoked }: KeyPanelProps) {
  const workspaceId = useWorkspaceId()
  const [asks, setAsks] = useState<'rotate' | 'revoke' | null>(null)
  const [isEditing, setEditing] = useState(false)
  const revoke = () =>
    revokeKey(workspaceId, apiKey.id).then(() => {
      say(t.keys.revoked({ name: apiKey.name }))
      revoked()
    }, complain)
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
            <Button variant="light" color="red" mr="auto" onClick={() => setAsks('revoke')}>
              {t.keys.revoke}
            </Button>
            <Button variant="default" onClick={() => setAsks('rotate')}>
              {t.keys.rotate}
            </Button>
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
          <AnswersNew apiKey={apiKey} mayChange={mayChange} />
          <KeyLimits apiKey={apiKey} mayChange={mayChange} />
        </>
      )}
      <LastCalls keyId={apiKey.id} />
      {asks === 'revoke' && (
        <Confirm
          title={t.keys.revokeAsk({ name: apiKey.name })}
          action={t.keys.revoke}
          word={apiKey.name}
          run={revoke}
          close={() => setAsks(null)}
        >
          {t.keys.revokeHelp}
        </Confirm>
      )}
      {asks === 'rotate' && <RotateAsk apiKey={apiKey} close={() => setAsks(null)} rotated={rotated} />}
    </SidePanel>
  )
}

/** Whether new customers go to this key: it changes at once. */
function AnswersNew({ apiKey, mayChange }: Pick<KeyPanelProps, 'apiKey' | 'mayChange'>) {
  const workspaceId = useWorkspaceId()
  const changed = useKeysChanged(workspaceId)
  const [answers, setAnswers] = useState(apiKey.answersNewConversations)
  const change = useMutation({
    mutationFn: (wanted: boolean) => changeKey(workspaceId, apiKey.id, { answersNewConversations: wanted }),
    onSuccess: changed,
    onError: (error, wanted) => {
      setAnswers(!wanted)
      complain(error)
    },
  })
  const set = (wanted: boolean) => {
    setAnswers(wanted)
    change.mutate(wanted)
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

function RotateAsk({ apiKey, close, rotated }: Omit<KeyPanelProps, 'mayChange' | 'revoked'>) {
  const workspaceId = useWorkspaceId()
  const [hours, setHours] = useState('24')
  const rotate = useMutation({
    mutationFn: () => {
      const until = hours === '0' ? null : new Date(Date.now() + Number(hours) * hourMs).toISOString()
      return rotateKey(workspaceId, apiKey.id, until)
    },
    onSuccess: rotated,
    onError: complain,
  })
  return (
    <Confirm title={t.keys.rotateAsk} action={t.keys.rotate} run={() => rotate.mutateAsync()} close={close}>
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
  const moment = (at: string | null, otherwise: string) => (at === null ? otherwise : fullMoment(at))
  const facts: [string, ReactNode][] = [
    [t.keys.status, <StatusChip key="status" status={apiKey.status} />],
    [t.keys.value, <code key="value">{apiKey.shown}</code>],
    [t.keys.may, apiKey.scopes.map((scope) => t.keys.scopes[scope]).join(', ')],
    [t.keys.connections, names.length === 0 ? t.common.all : names.join(', ')],
    [t.keys.phones, apiKey.phoneVisibility === 'full' ? t.keys.phonesFull : t.keys.phonesMasked],
    [t.keys.allowlist, apiKey.allowlist.length === 0 ? t.keys.anywhere : apiKey.allowlist.join(', ')],
    [t.keys.created, fullMoment(apiKey.createdAt)],
    [t.settings.madeBy, <MadeBy key="by" id={apiKey.createdBy} />],
    [t.keys.lastUsed, moment(apiKey.lastUsedAt, t.keys.never)],
    [t.keys.expires, moment(apiKey.expiresAt, t.keys.never)],
    ...(apiKey.previousValidUntil === null
      ? []
      : ([[t.keys.previous, fullMoment(apiKey.previousValidUntil)]] as [string, ReactNode][])),
  ]
  return <Facts facts={facts} />
}
