import { Button, Group, Stack, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { type ApiKey, type Scope, useApiKeys, useInvalidateKeys } from '../data/keys.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Copyable } from '../ui/Copyable.tsx'
import { formatDateTime, timeAgo } from '../ui/format/time.ts'
import { Dialog } from '../ui/overlay/Dialog.tsx'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useShortcuts } from '../ui/shortcuts.ts'
import { useCreate } from '../ui/use-create.ts'
import { useIsPhone } from '../ui/use-is-phone.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { KeyPanel, StatusChip } from './KeyPanel.tsx'
import { NewKeyPanel } from './NewKeyPanel.tsx'

export function KeysPage() {
  const workspaceId = useWorkspaceId()
  const query = useApiKeys(workspaceId)
  const changed = useInvalidateKeys(workspaceId)
  const [isCreating, setCreating] = useCreate()
  const [openId, setOpenId] = useState<string | null>(null)
  const [created, setCreated] = useState<{ key: ApiKey; value: string } | null>(null)
  const mayChange = hasRole(workspaceId, 'admin')
  // On a phone, the title has no room beside two buttons.
  const isPhone = useIsPhone()
  const open = query.data?.find(({ id }) => id === openId)
  useShortcuts(
    t.keys.title,
    useMemo(
      () => (mayChange ? [{ keys: 'c', label: t.keys.create, run: () => setCreating(true) }] : []),
      [mayChange, setCreating],
    ),
  )

  const create = () => setCreating(true)
  const show = (response: { key: ApiKey; value: string }) => {
    setCreating(false)
    setOpenId(null)
    setCreated(response)
    void changed()
  }

  const connect = (
    <Button component={Link} to={`/w/${workspaceId}/keys/connect`} variant="default">
      {t.keys.connect.title}
    </Button>
  )

  return (
    <>
      <PageHeader
        title={t.keys.title}
        action={
          mayChange && (
            <Group gap="xs" wrap="nowrap">
              {!isPhone && connect}
              <Button leftSection={<IconPlus size={16} />} onClick={create}>
                {t.keys.create}
              </Button>
            </Group>
          )
        }
      />
      <PageBody>
        {isPhone && mayChange && <Group mb="md">{connect}</Group>}
        <QueryBoundary query={query}>
          {(keys) =>
            keys.length === 0 ? (
              <EmptyState title={t.keys.empty} {...(mayChange && { action: { label: t.keys.create, run: create } })} />
            ) : (
              <KeyTable keys={keys} open={({ id }) => setOpenId(id)} />
            )
          }
        </QueryBoundary>
      </PageBody>
      {isCreating && <NewKeyPanel close={() => setCreating(false)} onCreated={show} />}
      {open !== undefined && (
        <KeyPanel
          apiKey={open}
          mayChange={mayChange}
          close={() => setOpenId(null)}
          onRotated={show}
          onRevoked={() => {
            setOpenId(null)
            void changed()
          }}
        />
      )}
      {created !== null && (
        <KeyValue
          name={created.key.name}
          value={created.value}
          scopes={created.key.scopes}
          close={() => setCreated(null)}
        />
      )}
    </>
  )
}

function KeyTable({ keys, open }: { keys: ApiKey[]; open(key: ApiKey): void }) {
  return <Table label={t.keys.title} columns={columns()} rows={keys} keyOf={({ id }) => id} open={open} />
}

const columns = (): Column<ApiKey>[] => [
  { key: 'name', title: t.keys.name, cell: ({ name }) => name, whole: true },
  { key: 'status', title: t.keys.status, cell: ({ status }) => <StatusChip status={status} /> },
  { key: 'shown', title: t.keys.value, cell: ({ shown }) => <code>{shown}</code>, optional: true },
  {
    key: 'may',
    title: t.keys.permissions,
    cell: ({ scopes }) => scopes.map((scope) => t.keys.scopes[scope]).join(', '),
    optional: true,
  },
  { key: 'used', title: t.keys.lastUsed, cell: ({ lastUsedAt }) => <LastUsed at={lastUsedAt} />, whole: true },
]

function LastUsed({ at }: { at: string | null }) {
  if (at === null) return t.keys.never
  return <span title={formatDateTime(at)}>{timeAgo(at)}</span>
}

interface KeyValueProps {
  name: string
  value: string
  scopes: readonly Scope[]
  close(): void
}

/** Shows the value of a key, once. Only its button closes it. */
function KeyValue({ name, value, scopes, close }: KeyValueProps) {
  return (
    <Dialog
      close={close}
      title={t.keys.valueOf({ name })}
      size={600}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        <Text size="md">{t.keys.valueHelp}</Text>
        <Copyable value={value} label={t.keys.value} />
        <Text size="md">{t.keys.tryIt}</Text>
        <Copyable value={curlLine(value, scopes)} label={t.keys.curl} />
        <Group justify="flex-end">
          <Button onClick={close} data-autofocus>
            {t.keys.savedIt}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

function curlLine(value: string, scopes: readonly Scope[]): string {
  const place = scopes.some((scope) => scope.startsWith('leads.')) ? 'leads?limit=5' : 'inbox/conversations?limit=5'
  return `curl '${window.location.origin}/api/v1/${place}' -H 'Authorization: Bearer ${value}'`
}
