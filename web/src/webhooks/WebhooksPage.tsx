import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useEndpoints } from '../data/webhooks.ts'
import { mayIn } from '../session/session.ts'
import { t } from '../text/index.ts'
import { useKeys } from '../ui/keys.ts'
import { Empty } from '../ui/page/Empty.tsx'
import { Loaded, PageBody } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { useMaking } from '../ui/use-making.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { EndpointPanel } from './EndpointPanel.tsx'
import { EndpointTable } from './EndpointTable.tsx'
import { SecretValue } from './SecretValue.tsx'
import { useEndpointChanged } from './use-changed.ts'
import { useFreshEndpoints } from './use-fresh.ts'
import { nameOf } from './words.ts'

/** The endpoints that events are sent to, and how that goes. */
export function WebhooksPage() {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const query = useEndpoints(workspaceId)
  const changed = useEndpointChanged(workspaceId)
  const [isMaking, setMaking] = useMaking()
  const [made, setMade] = useState<{ id: string; name: string; secret: string } | null>(null)
  const mayChange = mayIn(workspaceId, 'admin')
  useFreshEndpoints(workspaceId, query.data)
  useKeys(
    t.webhooks.title,
    useMemo(
      () => (mayChange ? [{ keys: 'c', label: t.webhooks.make, run: () => setMaking(true) }] : []),
      [mayChange, setMaking],
    ),
  )

  const make = () => setMaking(true)
  const open = (endpointId: string) =>
    void navigate({ to: '/w/$workspaceId/webhooks/$endpointId', params: { workspaceId, endpointId } })

  return (
    <>
      <PageHeader
        title={t.webhooks.title}
        action={
          mayChange && (
            <Button leftSection={<IconPlus size={16} />} onClick={make}>
              {t.webhooks.make}
            </Button>
          )
        }
      />
      <PageBody>
        <Loaded query={query}>
          {(endpoints) =>
            endpoints.length === 0 ? (
              <Empty title={t.webhooks.empty} {...(mayChange && { action: { label: t.webhooks.make, run: make } })} />
            ) : (
              <EndpointTable endpoints={endpoints} open={({ id }) => open(id)} />
            )
          }
        </Loaded>
      </PageBody>
      {isMaking && (
        <EndpointPanel
          close={() => setMaking(false)}
          saved={(endpoint, secret) => {
            setMaking(false)
            changed(endpoint)
            setMade({ id: endpoint.id, name: nameOf(endpoint), secret: secret ?? '' })
          }}
        />
      )}
      {made !== null && <SecretValue name={made.name} secret={made.secret} close={() => open(made.id)} />}
    </>
  )
}
