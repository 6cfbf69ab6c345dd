import { Button } from '@mantine/core'
import { IconArrowsExchange, IconHandStop, IconRobot, IconUsers } from '@tabler/icons-react'
import { Suspense, useCallback, useMemo, useState } from 'react'
import type { Conversation } from '../../data/inbox/types.ts'
import { useWorkspace } from '../../data/workspace.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../../ui/overlay/shortcuts-blocked.ts'
import { Tip } from '../../ui/overlay/Tip.tsx'
import { ShortcutHint, useShortcuts } from '../../ui/shortcuts.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useComposeState } from './drafts.ts'
import styles from './OwnerBar.module.css'
import { useSendingAgent, useTakeOver } from './use-owner.ts'

const HandBackDialog = prefetchedComponent(() => import('./HandBackDialog.tsx'))

interface OwnerBarProps {
  conversation: Conversation
}

/** Says that another app on the number answers the customer at the platform; nothing while none does. */
export function StandbyBar({ conversation: { standbyFor } }: OwnerBarProps) {
  if (standbyFor === null) return null
  const texts = t.compose.standby
  return (
    <div className={styles.bar} data-standby="true" role="status">
      <IconArrowsExchange size={16} stroke={1.8} aria-hidden="true" />
      <span className={styles.standby}>
        <strong>{standbyFor === 'ai_agent' ? texts.aiAgent : texts.otherApp}</strong> {texts.help}
      </span>
    </div>
  )
}

/** Shows who answers, with buttons to take over or hand back. */
export function OwnerBar({ conversation }: OwnerBarProps) {
  const workspaceId = useWorkspaceId()
  const [isConfirming, setConfirming] = useState(false)
  const { data: workspace } = useWorkspace(workspaceId)
  const take = useTakeOver(conversation.id)
  // A message that the agent is already sending cannot be stopped: says so until it appears.
  const wasSending = useSendingAgent(workspaceId, conversation.id)
  const openDialog = useCallback(() => setConfirming(true), [])
  const { isTakingOver } = useComposeState(workspaceId, conversation.id)
  const isAgents = conversation.owner !== 'human' && !isTakingOver
  const isStopped = workspace?.agentsStopped === true
  const texts = t.compose.owner

  useShortcuts(
    t.compose.title,
    useMemo(
      () => [
        isAgents
          ? { keys: 't', label: texts.takeOver, run: take }
          : { keys: 'h', label: texts.handBack, run: openDialog },
      ],
      [isAgents, take, openDialog, texts],
    ),
  )

  const Icon = isAgents ? IconRobot : IconUsers
  return (
    <div className={styles.bar} data-agent={isAgents || undefined}>
      <Icon size={16} stroke={1.8} aria-hidden="true" />
      <span className={styles.who} role="status">
        {isAgents ? texts.agent({ name: conversation.ownerName ?? texts.unnamed }) : texts.people}
        {!isAgents && wasSending !== null && (
          <span className={styles.aside}>{texts.alreadySending({ name: wasSending })}</span>
        )}
      </span>
      {isStopped && (
        <Tip label={texts.stoppedHelp} multiline w={260}>
          <span>
            <Chip tone="attention">
              <IconHandStop size={12} aria-hidden="true" /> {texts.stopped}
            </Chip>
          </span>
        </Tip>
      )}
      {isAgents ? (
        <Button size="compact-sm" onClick={take} rightSection={<ShortcutHint keys="t" />}>
          {texts.takeOver}
        </Button>
      ) : (
        <Button size="compact-sm" variant="default" onClick={openDialog} rightSection={<ShortcutHint keys="h" />}>
          {texts.handBack}
        </Button>
      )}
      <Suspense fallback={<ShortcutsBlocked />}>
        {isConfirming && (
          <HandBackDialog conversation={conversation} isStopped={isStopped} close={() => setConfirming(false)} />
        )}
      </Suspense>
    </div>
  )
}
