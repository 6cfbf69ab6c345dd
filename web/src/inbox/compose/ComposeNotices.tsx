import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Suspense } from 'react'
import { useConnectionActions } from '../../data/connections.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { currentUser, hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useBusy } from '../parts/use-busy.ts'
import styles from './Composer.module.css'
import type { Obstacle } from './obstacle.ts'
import { isAvailabilityRefusal } from './refusal.ts'
import type { ComposerState } from './use-composer.ts'

const RefusalLine = prefetchedComponent(() => import('./RefusalLine.tsx'))

interface ComposeNoticesProps {
  conversation: Conversation
  composer: ComposerState
}

/** Notices above the field: why nothing was sent, or that someone else has written. */
export function ComposeNotices({ conversation, composer }: ComposeNoticesProps) {
  const { refusal, sendOutgoing } = composer
  const isReply = composer.surface === 'reply'
  const obstacle = isReply ? composer.obstacle : null
  const newMessageBy = isReply ? composer.seen.newMessageBy : null
  // The templates already explain a closed window; a remaining obstacle has its own line.
  const isShown = refusal?.reason === 'WINDOW_CLOSED' || (obstacle !== null && isAvailabilityRefusal(refusal))
  return (
    <>
      {obstacle !== null && <ObstacleNotice connectionId={conversation.connectionId} obstacle={obstacle} />}
      {refusal !== null && !isShown && (
        <Suspense>
          <RefusalLine conversation={conversation} refusal={refusal} send={sendOutgoing} />
        </Suspense>
      )}
      {refusal === null && newMessageBy !== null && (
        <div className={styles.line} data-tone="attention" role="status">
          {t.compose.repliedWhileWriting({ name: newMessageBy || conversation.contact.name || t.common.unknown })}
        </div>
      )}
    </>
  )
}

/** Why nothing can be sent now, with a link to fix it. The text stays in the field. */
function ObstacleNotice({ connectionId, obstacle }: { connectionId: string; obstacle: Obstacle }) {
  const workspaceId = useWorkspaceId()
  const { obstacles: texts, refusal } = t.compose
  const { acknowledge, resume } = useConnectionActions(workspaceId)
  const action = (label: string, step: () => Promise<unknown>) => <ActionButton label={label} step={step} />
  const to = (label: string, path: string) => (
    <Button size="compact-sm" variant="default" component={Link} to={`/w/${workspaceId}/${path}`}>
      {label}
    </Button>
  )
  const remedy = () => {
    switch (obstacle) {
      case 'unacknowledged':
        return action(refusal.acknowledge, () => acknowledge(connectionId))
      case 'paused':
        return hasRole(workspaceId, 'admin') && action(texts.resume, () => resume(connectionId))
      case 'inbox_closed':
        return hasRole(workspaceId, 'owner')
          ? to(texts.openSettings, 'settings/workspace')
          : to(texts.seeOwners, 'settings/members')
      case 'not_in_plan':
        return currentUser().isOperator
          ? to(texts.openSettings, 'settings/workspaces')
          : to(texts.seeOwners, 'settings/members')
      default:
        return null
    }
  }
  const isOfWorkspace = obstacle === 'inbox_closed' || obstacle === 'not_in_plan'
  return (
    <div className={styles.line} data-tone={obstacle === 'unavailable' ? 'bad' : 'attention'} role="status">
      <div className={styles.text}>
        <strong>{texts.messages[obstacle]}</strong>{' '}
        {obstacle === 'unacknowledged' ? refusal.acknowledgeHelp : texts.kept}
      </div>
      {remedy()}
      {obstacle === 'removed' && to(t.common.pages.connections, 'connections')}
      {!isOfWorkspace && obstacle !== 'removed' && to(texts.openConnection, `connections/${connectionId}`)}
    </div>
  )
}

function ActionButton({ label, step }: { label: string; step(): Promise<unknown> }) {
  const [isBusy, run] = useBusy()
  return (
    <Button size="compact-sm" loading={isBusy} onClick={() => void run(step)}>
      {label}
    </Button>
  )
}
