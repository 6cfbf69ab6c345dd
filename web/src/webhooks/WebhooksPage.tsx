import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useEndpoints } from '../data/webhooks.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { useShortcuts } from '../ui/shortcuts.ts'
import { useCreate } from '../ui/use-create.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { EndpointPanel } from './EndpointPanel.tsx'
import { EndpointTable } from './EndpointTable.tsx'
import { SecretValue } from './SecretValue.tsx'
import { useUpdateEndpointCache } from './update-cache.ts'
import { useLiveEndpoints } from './use-live-updates.ts'
import { nameOf } from './webhook-texts.ts'

/** Webhook endpoints and their status. */
export function WebhooksPage() {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const query = useEndpoints(workspaceId)
  const changed = useUpdateEndpointCache(workspaceId)
  const [isCreating, setCreating] = useCreate()
  const [created, setCreated] = useState<{ id: string; name: string; secret: string } | null>(null)
  const mayChange = hasRole(workspaceId, 'admin')
  useLiveEndpoints(workspaceId, query.data)
  useShortcuts(
    t.webhooks.title,
    useMemo(
      () => (mayChange ? [{ keys: 'c', label: t.webhooks.create, run: () => setCreating(true) }] : []),
      [mayChange, setCreating],
    ),
  )

  const create = () => setCreating(true)
  const open = (endpointId: string) =>
    void navigate({ to: '/w/$workspaceId/webhooks/$endpointId', params: { workspaceId, endpointId } })

  return (
    <>
      <PageHeader
        title={t.webhooks.title}
        action={
          mayChange && (
            <Button leftSection={<IconPlus size={16} />} onClick={create}>
              {t.webhooks.create}
            </Button>
          )
        }
      />
      <PageBody>
        <QueryBoundary query={query}>
          {(endpoints) =>
            endpoints.length === 0 ? (
              <EmptyState
                title={t.webhooks.empty}
                {...(mayChange && { action: { label: t.webhooks.create, run: create } })}
              />
            ) : (
              <EndpointTable endpoints={endpoints} open={({ id }) => open(id)} />
            )
          }
        </QueryBoundary>
      </PageBody>
      {isCreating && (
        <EndpointPanel
          close={() => setCreating(false)}
          onSaved={(endpoint, secret) => {
            setCreating(false)
            changed(endpoint)
            setCreated({ id: endpoint.id, name: nameOf(endpoint), secret: secret ?? '' })
          }}
        />
      )}
      {created !== null && <SecretValue name={created.name} secret={created.secret} close={() => open(created.id)} />}
    </>
  )
}
