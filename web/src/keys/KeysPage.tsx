import { Button, Group } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { type ApiKey, useApiKeys, useInvalidateKeys } from '../data/keys.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { useShortcuts } from '../ui/shortcuts.ts'
import { useCreate } from '../ui/use-create.ts'
import { useIsPhone } from '../ui/use-is-phone.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { KeyPanel } from './KeyPanel.tsx'
import { KeyTable } from './KeyTable.tsx'
import { KeyValue } from './KeyValue.tsx'
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
