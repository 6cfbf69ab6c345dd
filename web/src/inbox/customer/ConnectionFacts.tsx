import { Select } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useConnections } from '../../data/connections.ts'
import { patchConversation } from '../../data/inbox/actions.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import { type Conversation, type Priority, priorities } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { formatDateTime } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useResponseWindow } from '../compose/response-window.ts'
import { useNow } from '../list/ConversationRows.tsx'
import { GoalChip } from '../parts/GoalChip.tsx'
import { Facts, Section } from './Section.tsx'

const tones = { active: 'good', paused: 'attention', unavailable: 'bad' } as const

interface ConnectionFactsProps {
  conversation: Conversation
  firstContactAt: string
}

/** Connection of the conversation, and whether it can send. */
export function ConnectionFacts({ conversation, firstContactAt }: ConnectionFactsProps) {
  const workspaceId = useWorkspaceId()
  const { data: connections = [] } = useConnections(workspaceId)
  const { connectionId, connectionName, channel, windowExpiresAt, contact, profileName, goal } = conversation
  const state = connections.find(({ id }) => id === connectionId)?.state
  const now = useNow()
  const isClosed = useResponseWindow(windowExpiresAt).state === 'closed'
  const texts = t.customer
  const closed = channel === 'unofficial' ? texts.windowClosedQr : texts.windowClosed
  const windowEnd = isClosed || windowExpiresAt === null ? closed : formatDateTime(windowExpiresAt)
  return (
    <Section title={texts.connection}>
      <Facts
        facts={[
          {
            name: texts.channels[channel],
            value: (
              <>
                <Link to="/w/$workspaceId/connections/$connectionId" params={{ workspaceId, connectionId }}>
                  {connectionName ?? t.common.unknown}
                </Link>{' '}
                {state !== undefined && <Chip tone={tones[state]}>{texts.states[state]}</Chip>}
              </>
            ),
          },
          // Visitors of a website can always be answered.
          channel !== 'website' && { name: texts.window, value: windowEnd },
          { name: t.inbox.priority, value: <PrioritySelect conversation={conversation} /> },
          goal !== null && { name: t.inbox.goals.title, value: <GoalChip goal={goal} now={now} /> },
          { name: texts.firstContact, value: formatDateTime(firstContactAt) },
          // If the lead has another name.
          profileName !== null && profileName !== contact.name && { name: texts.profileName, value: profileName },
        ]}
      />
    </Section>
  )
}

/** Priority of the conversation; choosing one saves it. */
function PrioritySelect({ conversation: { id, priority } }: { conversation: Conversation }) {
  const inbox = useInbox()
  return (
    <Select
      size="xs"
      aria-label={t.inbox.priority}
      data={priorities.toReversed().map((value) => ({ value, label: t.inbox.priorities[value] }))}
      value={priority}
      placeholder={t.inbox.noPriority}
      clearable
      onChange={(value) => void patchConversation(inbox, id, { priority: value as Priority | null })}
    />
  )
}
