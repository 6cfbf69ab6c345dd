import { Anchor, Button, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useConnections } from '../data/connections.ts'
import {
  type ApiKey,
  changeKey,
  type KeyCall,
  revokeKey,
  rotateKey,
  useInvalidateKeys,
  useKeyCalls,
} from '../data/keys.ts'
import { useVersions } from '../data/team/instructions.ts'
import { AgentPreview } from '../shared/agent/AgentPreview.tsx'
import { CreatedBy } from '../shared/CreatedBy.tsx'
import { t } from '../text/index.ts'
import { Chip, type Tone } from '../ui/Chip.tsx'
import { formatDateTime, formatDateTimeSeconds, formatNumber } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { Facts } from '../ui/page/Facts.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { Section } from '../ui/page/Section.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { AllowlistField, addressesIn, ConnectionField, ScopeBoxes } from './KeyFields.tsx'
import { KeyHistory } from './KeyHistory.tsx'
import { KeyApproval, KeyLimits, KeyTools } from './KeySettings.tsx'
import styles from './LastCalls.module.css'
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
  const change = useMutation({
    mutationFn: (next: boolean) => changeKey(workspaceId, apiKey.id, { answersNewConversations: next }),
    onSuccess: changed,
    onError: showError,
  })
  return (
    <Switch
      label={t.keys.answersNew}
      description={t.keys.answersNewHelp}
      checked={change.isPending ? change.variables : apiKey.answersNewConversations}
      onChange={(event) => change.mutate(event.currentTarget.checked)}
      disabled={!mayChange}
    />
  )
}

function RotateDialog({ apiKey, close, onRotated }: Omit<KeyPanelProps, 'mayChange' | 'onRevoked'>) {
  const workspaceId = useWorkspaceId()
  const [hours, setHours] = useState('24')
  const rotate = () => {
    const until = hours === '0' ? null : new Date(Date.now() + Number(hours) * hourMs).toISOString()
    return rotateKey(workspaceId, apiKey.id, until).then(onRotated, showError)
  }
  return (
    <Confirm title={t.keys.rotateConfirm} action={t.keys.rotate} run={rotate} close={close}>
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
  ]
  if (apiKey.previousValidUntil !== null) facts.push([t.keys.previous, formatDateTime(apiKey.previousValidUntil)])
  return <Facts facts={facts} />
}

export function StatusChip({ status }: Pick<ApiKey, 'status'>) {
  return <Chip tone={status === 'active' ? 'good' : 'plain'}>{t.keys.statuses[status]}</Chip>
}

/** Edits the name and permissions of a key. */
function EditKeyPanel({ apiKey, close }: { apiKey: ApiKey; close(): void }) {
  const workspaceId = useWorkspaceId()
  const changed = useInvalidateKeys(workspaceId)
  const { name, scopes, connectionIds, allowlist } = apiKey
  const draft = useDraft({ name, scopes, connectionIds, allowlist: allowlist.join('\n') })
  const { value, set, errorOf } = draft
  const save = useMutation({
    mutationFn: () =>
      changeKey(workspaceId, apiKey.id, {
        ...value,
        name: value.name.trim(),
        allowlist: addressesIn(value.allowlist),
      }),
    onSuccess: async () => {
      showToast(t.keys.saved)
      await changed()
      close()
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={t.keys.editOf({ name: apiKey.name })}
      close={close}
      submit={() => save.mutate()}
      footer={<PanelButtons close={close} action={t.common.save} isBusy={save.isPending} disabled={!draft.isChanged} />}
    >
      <TextInput
        label={t.keys.name}
        description={t.keys.nameHelp}
        value={value.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={errorOf('name')}
        data-autofocus
      />
      <ScopeBoxes draft={draft} />
      {mayAnswer(scopes) && !mayAnswer(value.scopes) && (
        <Text size="sm" role="status">
          {t.keys.losesAnswering}
        </Text>
      )}
      <ConnectionField draft={draft} />
      <AllowlistField draft={draft} />
    </SidePanel>
  )
}

/** Which instructions the key has of its own, and what it receives. */
function KeyInstructions({ apiKey, mayChange }: { apiKey: ApiKey; mayChange: boolean }) {
  const workspaceId = useWorkspaceId()
  const texts = t.instructions
  const { data } = useVersions(workspaceId, { keyId: apiKey.id, connectionId: null })
  const [isPreviewing, setPreviewing] = useState(false)
  const newest = data?.versions[0]
  const own = newest?.text == null ? texts.noneOfItsOwn : texts.ofItsOwn({ n: formatNumber(newest.version) })
  return (
    <Stack gap="xs" role="group" aria-label={t.settings.agents.instructions} align="flex-start">
      <div>
        <Text size="sm" fw={500}>
          {t.settings.agents.instructions}
        </Text>
        <Text size="sm" c="dimmed">
          {data === undefined ? t.common.loading : own}
        </Text>
      </div>
      <Group gap="xs">
        <Button
          variant="default"
          renderRoot={(props) => (
            <Link
              {...props}
              to="/w/$workspaceId/settings/$section"
              params={{ workspaceId, section: 'instructions' }}
              search={{ key: apiKey.id }}
            />
          )}
        >
          {t.settings.agents.toInstructions}
        </Button>
        {mayChange && (
          <Button variant="default" onClick={() => setPreviewing(true)}>
            {texts.receives}
          </Button>
        )}
      </Group>
      {isPreviewing && <AgentPreview keys={[apiKey]} draftId={null} close={() => setPreviewing(false)} />}
    </Stack>
  )
}

/** Recent calls of a key and their results, to debug integrations. */
function LastCalls({ keyId }: { keyId: string }) {
  const texts = t.keys.calls
  const query = useKeyCalls(useWorkspaceId(), keyId)
  return (
    <Section title={texts.title} help={texts.help}>
      <QueryBoundary query={query} rows={3}>
        {(calls) =>
          calls.length === 0 ? (
            <p>{texts.none}</p>
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard
            <div className={styles.wide} tabIndex={0}>
              <Table label={texts.title} columns={columns()} rows={numbered(calls)} keyOf={({ key }) => key} />
            </div>
          )
        }
      </QueryBoundary>
    </Section>
  )
}

interface Row extends KeyCall {
  key: string
}

// Numbered from the oldest, so that keys stay stable when a call is added.
const numbered = (calls: readonly KeyCall[]): Row[] =>
  calls.map((call, n) => ({ ...call, key: `${call.at} ${calls.length - n}` }))

function columns(): Column<Row>[] {
  const texts = t.keys.calls
  return [
    {
      key: 'call',
      title: texts.call,
      cell: ({ verb, method, route }) => <code>{verb ?? `${method} ${route}`}</code>,
      long: true,
    },
    { key: 'status', title: texts.status, cell: ({ status }) => <Chip tone={toneOf(status)}>{status}</Chip> },
    {
      key: 'ms',
      title: texts.took,
      cell: ({ ms }) => t.keys.calls.ms({ ms: formatNumber(ms) }),
      numeric: true,
      whole: true,
      optional: true,
    },
    { key: 'at', title: texts.when, cell: ({ at }) => <time dateTime={at}>{formatDateTimeSeconds(at)}</time> },
  ]
}

const toneOf = (status: number): Tone => (status < 400 ? 'good' : status < 500 ? 'attention' : 'bad')
