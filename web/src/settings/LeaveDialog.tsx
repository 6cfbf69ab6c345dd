import { Checkbox, Stack } from '@mantine/core'
import { type ReactNode, useState } from 'react'
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
  const { tokens, invitations, keys } = created
  const webhooks = created.webhooks.filter(({ state }) => state === 'active')
  const tokenNames = tokens.map(({ name }) => name).join(', ')
  const emails = invitations.map(({ email }) => email).join(', ')
  const isEmpty = [tokens, invitations, keys, webhooks].every(({ length }) => length === 0)
  return (
    <Stack gap="sm" mt={isEmpty ? 0 : 'md'}>
      {tokens.length > 0 && <div>{texts.endsTokens({ names: tokenNames })}</div>}
      {invitations.length > 0 && <div>{texts.endsInvitations({ emails })}</div>}
      {keys.length > 0 && (
        <ResourceList title={texts.createdKeys} resources={keys}>
          {mayDecide && (
            <Checkbox
              mt={6}
              label={texts.revokeKeys}
              checked={options.keys === 'revoke'}
              onChange={(event) => decide({ keys: event.currentTarget.checked ? 'revoke' : 'keep' })}
            />
          )}
        </ResourceList>
      )}
      {webhooks.length > 0 && (
        <ResourceList
          title={texts.createdWebhooks}
          resources={webhooks.map((one) => ({ ...one, name: one.description || one.url }))}
        >
          {mayDecide && (
            <Checkbox
              mt={6}
              label={texts.disableWebhooks}
              checked={options.webhooks === 'disable'}
              onChange={(event) => decide({ webhooks: event.currentTarget.checked ? 'disable' : 'keep' })}
            />
          )}
        </ResourceList>
      )}
    </Stack>
  )
}

interface ResourceListProps {
  title: string
  resources: readonly { id: string; name: string; lastUsedAt: string | null }[]
  children: ReactNode
}

function ResourceList({ title, resources, children }: ResourceListProps) {
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
      {children}
    </div>
  )
}
