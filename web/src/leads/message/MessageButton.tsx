import { Button } from '@mantine/core'
import { IconMessage } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { type Lead, useConversations } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import { lazyComponent } from '../../ui/overlay/lazy.ts'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { goTo } from './InboxLink.tsx'

const StartConversation = lazyComponent(() => import('./StartConversation.tsx'))

/**
 * Writes to a lead: in the existing conversation, where the inbox knows whether a template is required, or in a new
 * one.
 */
export function MessageButton({ lead }: { lead: Lead }) {
  const workspaceId = useWorkspaceId()
  const { data: conversations } = useConversations(workspaceId, lead.id, lead.phone)
  const [isStarting, setStarting] = useState(false)
  // The newest, where people would look for it.
  const existing = conversations?.[0]?.id
  const isKnown = conversations !== undefined || lead.phone === null
  const keys = useMemo(() => {
    const run = () => {
      if (existing !== undefined) goTo(`/w/${workspaceId}/inbox/${existing}`)
      else if (isKnown) setStarting(true)
    }
    return [{ keys: 'm', label: t.leadPage.message, run }]
  }, [existing, isKnown, workspaceId])
  useShortcuts(t.leads.keys.group, keys)
  return (
    <>
      <Button
        flex="none"
        size="compact-sm"
        variant="default"
        leftSection={<IconMessage size={14} />}
        disabled={!isKnown}
        onClick={() => keys[0]?.run()}
      >
        {t.leadPage.message}
      </Button>
      {isStarting && <StartConversation lead={lead} close={() => setStarting(false)} />}
    </>
  )
}
