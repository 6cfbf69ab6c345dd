import { Checkbox, Stack } from '@mantine/core'
import { useState } from 'react'
import { type Leaving, type Made, type Member, useMade } from '../data/team/members.ts'
import { mayIn, me } from '../session/session.ts'
import { t } from '../text/index.ts'
import { ago } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { complain } from '../ui/overlay/notices.tsx'
import { Loaded } from '../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './List.module.css'

interface LeaveAskProps {
  member: Member
  run(leaving: Leaving): Promise<void>
  close(): void
}

/** Asks before somebody goes, and what is to become of what they made: production may depend on it. */
export function LeaveAsk({ member, run, close }: LeaveAskProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.members
  const isMe = member.userId === me().id
  const query = useMade(workspaceId, member.userId)
  const [leaving, setLeaving] = useState<Leaving>({ keys: 'keep', webhooks: 'keep' })
  return (
    <Confirm
      title={isMe ? texts.leaveAsk : texts.removeAsk({ name: member.name })}
      action={isMe ? texts.leave : texts.remove}
      word={member.name}
      run={() => run(leaving).catch(complain)}
      close={close}
    >
      {isMe ? texts.leaveHelp : texts.removeHelp}
      <Loaded query={query} rows={2}>
        {(made) => (
          <WhatTheyMade
            made={made}
            leaving={leaving}
            mayDecide={mayIn(workspaceId, 'admin')}
            decide={(part) => setLeaving({ ...leaving, ...part })}
          />
        )}
      </Loaded>
    </Confirm>
  )
}

interface WhatTheyMadeProps {
  made: Made
  leaving: Leaving
  mayDecide: boolean
  decide(part: Partial<Leaving>): void
}

function WhatTheyMade({ made, leaving, mayDecide, decide }: WhatTheyMadeProps) {
  const texts = t.settings.members
  const webhooks = made.webhooks.filter(({ state }) => state === 'active')
  const ends = [
    ...(made.tokens.length === 0 ? [] : [texts.endsTokens({ names: made.tokens.map(({ name }) => name).join(', ') })]),
    ...(made.invitations.length === 0
      ? []
      : [texts.endsInvitations({ emails: made.invitations.map(({ email }) => email).join(', ') })]),
  ]
  return (
    <Stack gap="sm" mt={ends.length + made.keys.length + webhooks.length > 0 ? 'md' : 0}>
      {ends.map((line) => (
        <div key={line}>{line}</div>
      ))}
      {made.keys.length > 0 && (
        <Things
          title={texts.madeKeys}
          things={made.keys.map(({ id, name, lastUsedAt }) => ({ id, name, lastUsedAt }))}
          {...(mayDecide && {
            choice: {
              label: texts.revokeKeys,
              isChosen: leaving.keys === 'revoke',
              choose: (isChosen) => decide({ keys: isChosen ? 'revoke' : 'keep' }),
            },
          })}
        />
      )}
      {webhooks.length > 0 && (
        <Things
          title={texts.madeWebhooks}
          things={webhooks.map(({ id, description, url, lastUsedAt }) => ({
            id,
            name: description || url,
            lastUsedAt,
          }))}
          {...(mayDecide && {
            choice: {
              label: texts.disableWebhooks,
              isChosen: leaving.webhooks === 'disable',
              choose: (isChosen) => decide({ webhooks: isChosen ? 'disable' : 'keep' }),
            },
          })}
        />
      )}
    </Stack>
  )
}

interface ThingsProps {
  title: string
  things: { id: string; name: string; lastUsedAt: string | null }[]
  choice?: { label: string; isChosen: boolean; choose(isChosen: boolean): void }
}

function Things({ title, things, choice }: ThingsProps) {
  const texts = t.settings.members
  return (
    <div>
      <strong>{title}</strong>
      <ul className={styles.things}>
        {things.map(({ id, name, lastUsedAt }) => (
          <li key={id}>
            {name} · {lastUsedAt === null ? texts.neverUsed : texts.used({ ago: ago(lastUsedAt) })}
          </li>
        ))}
      </ul>
      {choice !== undefined && (
        <Checkbox
          mt={6}
          label={choice.label}
          checked={choice.isChosen}
          onChange={(event) => choice.choose(event.currentTarget.checked)}
        />
      )}
    </div>
  )
}
