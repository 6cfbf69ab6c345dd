import { Button, Checkbox, MultiSelect, Select, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import type { Scope } from '../data/keys.ts'
import {
  type AuthorizationRequest,
  grantRequest,
  requestIn,
  useAuthorizationRequest,
  useConnectedKeys,
  useConnectionNames,
} from '../data/team/oauth.ts'
import { lastWorkspace } from '../session/last-workspace.ts'
import { currentSession, hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { errorSentence } from '../ui/format/error-texts.ts'
import { showError } from '../ui/overlay/toasts.tsx'
import { type Draft, useDraft } from '../ui/use-draft.ts'
import styles from './ConsentPage.module.css'
import { EntryCard } from './EntryCard.tsx'

/** Page on which a person decides what a program may do that asks for access by OAuth. */
export function ConsentPage() {
  const [asked] = useState(() => requestIn(window.location.search))
  const [isDone, setDone] = useState(false)
  const { data, error } = useAuthorizationRequest(asked)
  const texts = t.oauth
  if (isDone) return <EntryCard title={texts.done} help={texts.doneHelp} />
  if (error !== null && data === undefined) {
    const isRefusal = error instanceof ApiError && error.status === 400
    return isRefusal ? (
      <Invalid reason={error.message} />
    ) : (
      <EntryCard title={texts.invalid} help={errorSentence(error)} />
    )
  }
  if (data === undefined) return <EntryCard title={texts.title} help={t.common.loading} />
  const leave = (to: string) => {
    setDone(true)
    window.location.assign(to)
  }
  const { request, problem, declineTo } = data
  if (request === null) {
    return (
      <Invalid reason={problem ?? ''}>
        <Button variant="default" onClick={() => leave(declineTo)}>
          {texts.goBack}
        </Button>
      </Invalid>
    )
  }
  return <Consent request={request} asked={asked} decline={() => leave(declineTo)} leave={leave} />
}

/** Nobody is sent back without asking: anyone can make an invalid request that leads to their own site. */
function Invalid({ reason, children }: { reason: string; children?: ReactNode }) {
  return (
    <EntryCard title={t.oauth.invalid} help={t.oauth.invalidHelp}>
      <p className={styles.reason} lang="en">
        {reason}
      </p>
      {children}
    </EntryCard>
  )
}

interface ConsentProps {
  request: AuthorizationRequest
  asked: ReturnType<typeof requestIn>
  decline(): void
  leave(to: string): void
}

interface GrantDraft {
  /** Workspace that the program gets access to: the address names none. */
  workspace: string
  /** Key that is connected again; null for a new one. */
  keyId: string | null
  name: string
  scopes: Scope[]
  connectionIds: string[]
  isMasked: boolean
  needsApproval: boolean
}

function Consent({ request, asked, decline, leave }: ConsentProps) {
  const texts = t.oauth
  const own = currentSession().workspaces.filter(({ id }) => hasRole(id, 'admin'))
  const last = lastWorkspace(currentSession())
  const draft = useDraft<GrantDraft>({
    ...{
      workspace: own.find(({ id }) => id === last)?.id ?? own[0]?.id ?? '',
      keyId: null,
      name: request.name,
      scopes: request.scopes,
      connectionIds: [],
    },
    ...{ isMasked: false, needsApproval: true },
  })
  const { value, set, errorOf } = draft
  const grant = useMutation({
    mutationFn: () => grantRequest(value.workspace, { request: asked, ...settingsIn(value) }),
    onSuccess: ({ redirectTo }) => leave(redirectTo),
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <EntryCard title={texts.titleOf({ name: request.name })} help={texts.help}>
      <Stack gap="md">
        <Origin request={request} />
        {own.length === 0 ? (
          <p className={styles.notice}>{texts.adminsOnly}</p>
        ) : (
          <>
            {own.length > 1 && (
              <Select
                label={texts.workspace}
                data={own.map(({ id, name }) => ({ value: id, label: name }))}
                value={value.workspace}
                onChange={(id) => set({ workspace: id ?? value.workspace, connectionIds: [], keyId: null })}
                allowDeselect={false}
              />
            )}
            <KeyChoice clientId={asked.client_id ?? ''} draft={draft} />
            {value.keyId === null && (
              <TextInput
                label={t.keys.name}
                description={texts.nameHelp}
                value={value.name}
                maxLength={100}
                onChange={(event) => set({ name: event.currentTarget.value })}
                error={errorOf('name')}
              />
            )}
            <Permissions draft={draft} asked={request.scopes} />
            <ConnectionChoice key={value.workspace} draft={draft} />
          </>
        )}
        <div className={styles.buttons}>
          <Button variant="default" onClick={decline}>
            {texts.decline}
          </Button>
          {own.length > 0 && (
            <Button onClick={() => grant.mutate()} loading={grant.isPending} disabled={value.scopes.length === 0}>
              {texts.allow}
            </Button>
          )}
        </div>
      </Stack>
    </EntryCard>
  )
}

/** Says who asks, as far as that is certain: a name proves nothing, the address that gets the answer does. */
function Origin({ request: { name, host, redirectHost, isLocal } }: { request: AuthorizationRequest }) {
  const texts = t.oauth
  return (
    <dl className={styles.facts}>
      <dt>{texts.registeredName}</dt>
      <dd>
        <bdi>{name}</bdi>
      </dd>
      <dt>{texts.sentTo}</dt>
      <dd>
        <strong>{redirectHost}</strong>
      </dd>
      {host !== null && (
        <>
          <dt>{texts.publishedBy}</dt>
          <dd>{host}</dd>
        </>
      )}
      <dd className={styles.warning}>{isLocal ? texts.localWarning : texts.warning}</dd>
    </dl>
  )
}

/** A program that was connected before can get its key again, with its conversations and limits. */
function KeyChoice({ clientId, draft: { value, set, errorOf } }: { clientId: string; draft: Draft<GrantDraft> }) {
  const { data: keys = [] } = useConnectedKeys(value.workspace, clientId)
  if (keys.length === 0) return null
  return (
    <Select
      label={t.keys.title}
      description={t.oauth.keyHelp}
      data={[{ value: '', label: t.keys.create }, ...keys.map(({ value: id, label }) => ({ value: id, label }))]}
      value={value.keyId ?? ''}
      onChange={(id) => {
        const chosen = keys.find((key) => key.value === id)
        set({ keyId: chosen?.value ?? null, connectionIds: chosen?.connectionIds ?? [] })
      }}
      error={errorOf('keyId')}
      allowDeselect={false}
    />
  )
}

function Permissions({ draft: { value, set, errorOf }, asked }: { draft: Draft<GrantDraft>; asked: Scope[] }) {
  const texts = t.oauth
  return (
    <>
      <Checkbox.Group
        label={texts.may}
        value={value.scopes}
        onChange={(scopes) => set({ scopes: scopes as Scope[] })}
        error={errorOf('scopes')}
      >
        <Stack gap={6} mt={4}>
          {asked.map((scope) => (
            <Checkbox key={scope} value={scope} label={t.keys.scopes[scope]} />
          ))}
        </Stack>
      </Checkbox.Group>
      {value.keyId === null && value.scopes.includes('inbox.write') && (
        <Checkbox
          label={texts.approval}
          description={texts.approvalHelp}
          checked={value.needsApproval}
          onChange={(event) => set({ needsApproval: event.currentTarget.checked })}
        />
      )}
      {value.keyId === null && (
        <Checkbox
          label={texts.mask}
          description={texts.maskHelp}
          checked={value.isMasked}
          onChange={(event) => set({ isMasked: event.currentTarget.checked })}
        />
      )}
    </>
  )
}

function ConnectionChoice({ draft: { value, set, errorOf } }: { draft: Draft<GrantDraft> }) {
  const { data: connections = [] } = useConnectionNames(value.workspace)
  if (connections.length === 0 || !value.scopes.some((scope) => scope.startsWith('inbox.'))) return null
  return (
    <MultiSelect
      label={t.keys.connections}
      description={t.keys.connectionsHelp}
      placeholder={value.connectionIds.length === 0 ? t.common.all : ''}
      data={connections}
      value={value.connectionIds}
      onChange={(connectionIds) => set({ connectionIds })}
      error={errorOf('connectionIds')}
      clearable
    />
  )
}

const always = { always: true, outsideHours: false, firstAnswers: false, labelIds: [], amountFrom: null }

const settingsIn = ({ keyId, name, scopes, connectionIds, isMasked, needsApproval }: GrantDraft) => ({
  ...(keyId !== null && { keyId }),
  ...{ name: name.trim(), scopes, connectionIds },
  phoneVisibility: isMasked ? ('masked' as const) : ('full' as const),
  approval: needsApproval && scopes.includes('inbox.write') ? always : null,
})
