import { Checkbox, Stack } from '@mantine/core'
import { useState } from 'react'
import { type CreatedResources, type Member, type RemovalOptions, useCreatedResources } from '../data/team/members.ts'
import { currentUser, hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { timeAgo } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError } from '../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './List.module.css'

interface LeaveDialogProps {
  member: Member
  run(leaving: RemovalOptions): Promise<void>
  close(): void
}

/** Confirms removal of a member, and what happens to the resources they created, which may be in use. */
export function LeaveDialog({ member, run, close }: LeaveDialogProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.members
  const isMe = member.userId === currentUser().id
  const query = useCreatedResources(workspaceId, member.userId)
  const [leaving, setLeaving] = useState<RemovalOptions>({ keys: 'keep', webhooks: 'keep' })
  return (
    <Confirm
      title={isMe ? texts.leaveConfirm : texts.removeConfirm({ name: member.name })}
      action={isMe ? texts.leave : texts.remove}
      confirmText={member.name}
      run={() => run(leaving).catch(showError)}
      close={close}
    >
      {isMe ? texts.leaveHelp : texts.removeHelp}
      <QueryBoundary query={query} rows={2}>
        {(created) => (
          <CreatedResourceList
            created={created}
            options={leaving}
            mayDecide={hasRole(workspaceId, 'admin')}
            decide={(part) => setLeaving({ ...leaving, ...part })}
          />
        )}
      </QueryBoundary>
    </Confirm>
  )
}

interface CreatedResourceListProps {
  created: CreatedResources
  options: RemovalOptions
  mayDecide: boolean
  decide(part: Partial<RemovalOptions>): void
}

function CreatedResourceList({ created, options, mayDecide, decide }: CreatedResourceListProps) {
  const texts = t.settings.members
  const webhooks = created.webhooks.filter(({ state }) => state === 'active')
  const ends = [
    ...(created.tokens.length === 0
      ? []
      : [texts.endsTokens({ names: created.tokens.map(({ name }) => name).join(', ') })]),
    ...(created.invitations.length === 0
      ? []
      : [texts.endsInvitations({ emails: created.invitations.map(({ email }) => email).join(', ') })]),
  ]
  return (
    <Stack gap="sm" mt={ends.length + created.keys.length + webhooks.length > 0 ? 'md' : 0}>
      {ends.map((line) => (
        <div key={line}>{line}</div>
      ))}
      {created.keys.length > 0 && (
        <ResourceList
          title={texts.createdKeys}
          resources={created.keys.map(({ id, name, lastUsedAt }) => ({ id, name, lastUsedAt }))}
          {...(mayDecide && {
            choice: {
              label: texts.revokeKeys,
              isChosen: options.keys === 'revoke',
              choose: (isChosen) => decide({ keys: isChosen ? 'revoke' : 'keep' }),
            },
          })}
        />
      )}
      {webhooks.length > 0 && (
        <ResourceList
          title={texts.createdWebhooks}
          resources={webhooks.map(({ id, description, url, lastUsedAt }) => ({
            id,
            name: description || url,
            lastUsedAt,
          }))}
          {...(mayDecide && {
            choice: {
              label: texts.disableWebhooks,
              isChosen: options.webhooks === 'disable',
              choose: (isChosen) => decide({ webhooks: isChosen ? 'disable' : 'keep' }),
            },
          })}
        />
      )}
    </Stack>
  )
}

interface ResourceListProps {
  title: string
  resources: { id: string; name: string; lastUsedAt: string | null }[]
  choice?: { label: string; isChosen: boolean; choose(isChosen: boolean): void }
}

function ResourceList({ title, resources, choice }: ResourceListProps) {
  const texts = t.settings.members
  return (
    <div>
      <strong>{title}</strong>
      <ul className={styles.things}>
        {resources.map(({ id, name, lastUsedAt }) => (
          <li key={id}>
            {name} · {lastUsedAt === null ? texts.neverUsed : texts.used({ ago: timeAgo(lastUsedAt) })}
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
