import { Button, Group } from '@mantine/core'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useConnections } from '../data/connections.ts'
import { type Broadcast, useBroadcast, useBroadcastActions } from '../data/outreach/broadcasts.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError } from '../ui/overlay/toasts.tsx'
import { BackLink } from '../ui/page/BackLink.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Broadcasts.module.css'
import { Editor } from './Editor.tsx'
import { Progress } from './Progress.tsx'
import { StateChip } from './parts.tsx'

/** One broadcast: until it starts its draft, then its progress and results. */
export function BroadcastPage() {
  const { broadcastId = '' } = useParams({ strict: false })
  // A new one starts empty, also after another new one.
  return broadcastId === 'new' ? <NewBroadcast /> : <OneBroadcast key={broadcastId} id={broadcastId} />
}

function NewBroadcast() {
  const query = useConnections(useWorkspaceId())
  return (
    <>
      <PageHeader title={t.broadcasts.create} before={<BackLink path="broadcasts" label={t.broadcasts.title} />} />
      <PageBody narrow>
        <QueryBoundary query={query}>{() => <Editor broadcast={null} />}</QueryBoundary>
      </PageBody>
    </>
  )
}

const prepared: readonly Broadcast['state'][] = ['draft', 'collecting', 'ready', 'awaiting_approval']

function OneBroadcast({ id }: { id: string }) {
  const query = useBroadcast(useWorkspaceId(), id)
  const { data } = query
  return (
    <>
      <PageHeader
        title={data?.name ?? t.broadcasts.title}
        before={<BackLink path="broadcasts" label={t.broadcasts.title} />}
        action={data && <Controls broadcast={data} />}
      >
        {data && <StateChip state={data.state} />}
      </PageHeader>
      <PageBody narrow={data !== undefined && prepared.includes(data.state)}>
        <QueryBoundary query={query}>
          {(broadcast) => (
            <div className={styles.stack}>
              {prepared.includes(broadcast.state) ? (
                <Editor broadcast={broadcast} />
              ) : (
                <Progress broadcast={broadcast} />
              )}
            </div>
          )}
        </QueryBoundary>
      </PageBody>
    </>
  )
}

/** What can be done with it now. */
function Controls({ broadcast }: { broadcast: Broadcast }) {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const actions = useBroadcastActions(workspaceId)
  const [asked, setAsked] = useState<'cancel' | 'delete' | null>(null)
  const [isBusy, setBusy] = useState(false)
  const texts = t.broadcasts
  const { id, name, state } = broadcast
  const isAdmin = hasRole(workspaceId, 'admin')
  const isActive = state === 'scheduled' || state === 'running' || state === 'paused' || state === 'awaiting_approval'
  const run = async (work: Promise<unknown>) => {
    setBusy(true)
    await work.catch(showError).finally(() => setBusy(false))
  }
  const remove = () => actions.remove(id).then(() => navigate({ to: `/w/${workspaceId}/broadcasts` as '/' }), showError)
  return (
    <Group gap="xs" wrap="nowrap">
      {isAdmin && (state === 'scheduled' || state === 'running') && (
        <Button variant="default" loading={isBusy} onClick={() => void run(actions.control(id, 'pause'))}>
          {texts.pause}
        </Button>
      )}
      {isAdmin && state === 'paused' && (
        <Button loading={isBusy} onClick={() => void run(actions.control(id, 'resume'))}>
          {texts.resume}
        </Button>
      )}
      {isAdmin && isActive && (
        <Button variant="default" onClick={() => setAsked('cancel')}>
          {texts.cancel}
        </Button>
      )}
      {!isActive && state !== 'collecting' && (isAdmin || broadcast.startedBy === null) && (
        <Button variant="default" c="var(--bad)" onClick={() => setAsked('delete')}>
          {t.common.delete}
        </Button>
      )}
      {asked === 'cancel' && (
        <Confirm
          title={texts.cancelConfirm({ name })}
          action={texts.cancel}
          run={() => run(actions.control(id, 'cancel')).then(() => setAsked(null))}
          close={() => setAsked(null)}
        >
          {texts.cancelHelp}
        </Confirm>
      )}
      {asked === 'delete' && (
        <Confirm
          title={texts.deleteConfirm({ name })}
          action={t.common.delete}
          run={remove}
          close={() => setAsked(null)}
        >
          {texts.deleteHelp}
        </Confirm>
      )}
    </Group>
  )
}
