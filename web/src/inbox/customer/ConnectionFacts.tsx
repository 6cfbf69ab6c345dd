import { useConnections } from '../../connections/queries.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { fullMoment } from '../../ui/time.ts'
import type { Conversation } from '../types.ts'
import { Facts, Section } from './Section.tsx'

const tones = { active: 'good', paused: 'attention', unavailable: 'bad' } as const

/** By which number of ours they write, and whether it can answer. */
export function ConnectionFacts({ workspaceId, conversation }: { workspaceId: string; conversation: Conversation }) {
  const { data: connections = [] } = useConnections(workspaceId)
  const { connectionId, connectionName, channel, windowExpiresAt, createdAt } = conversation
  const state = connections.find(({ id }) => id === connectionId)?.state
  const texts = t.customer
  return (
    <Section title={texts.connection}>
      <Facts
        facts={[
          {
            name: texts.channels[channel],
            value: (
              <>
                {connectionName ?? t.common.unknown}{' '}
                {state !== undefined && <Chip tone={tones[state]}>{texts.states[state]}</Chip>}
              </>
            ),
          },
          { name: texts.window, value: windowExpiresAt === null ? texts.windowClosed : fullMoment(windowExpiresAt) },
          { name: texts.began, value: fullMoment(createdAt) },
        ]}
      />
    </Section>
  )
}
