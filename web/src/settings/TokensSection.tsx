import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { roleValues } from '../api/schema.ts'
import { createToken, revokeToken, type Token, tokensKey, useTokens } from '../data/team/tokens.ts'
import type { Role } from '../session/session.ts'
import { CreatedBy } from '../shared/CreatedBy.tsx'
import { t } from '../text/index.ts'
import { textField, useSave } from '../ui/draft-fields.ts'
import { formatDateTime, timeAgo } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { EditPanel } from './draft/EditPanel.tsx'
import { ItemList } from './parts/ItemList.tsx'
import { RoleField } from './parts/RoleField.tsx'
import { RowAction } from './parts/RowButton.tsx'
import { TokenDialog } from './parts/TokenDialog.tsx'

interface CreatedToken {
  token: Token
  value: string
}

export function TokensSection() {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.tokens
  const query = useTokens(workspaceId)
  const queries = useQueryClient()
  const [created, setCreated] = useState<CreatedToken | null>(null)
  const [confirming, setConfirming] = useState<Token | null>(null)
  const changed = () => queries.invalidateQueries({ queryKey: tokensKey(workspaceId) })
  const revoke = async ({ id, name }: Token) => {
    await revokeToken(workspaceId, id)
    setConfirming(null)
    showToast(texts.revoked({ name }))
    await changed()
  }
  const show = (response: CreatedToken) => {
    setCreated(response)
    void changed()
  }
  return (
    <>
      <ItemList
        query={query}
        create={texts.create}
        empty={texts.empty}
        panel={(_, close) => <NewTokenPanel close={close} onCreated={show} />}
      >
        {(tokens) => (
          <Table
            label={t.settings.sections.tokens.title}
            rows={tokens}
            keyOf={({ id }) => id}
            columns={columns(setConfirming)}
          />
        )}
      </ItemList>
      {created !== null && (
        <TokenDialog
          title={texts.valueOf({ name: created.token.name })}
          help={texts.valueHelp}
          value={created.value}
          label={texts.value}
          action={texts.savedIt}
          close={() => setCreated(null)}
        />
      )}
      {confirming !== null && (
        <Confirm
          title={texts.revokeConfirm({ name: confirming.name })}
          action={texts.revoke}
          confirmText={confirming.name}
          run={() => revoke(confirming).catch(showError)}
          close={() => setConfirming(null)}
        >
          {texts.revokeHelp}
        </Confirm>
      )}
    </>
  )
}

function columns(confirmRevoke: (token: Token) => void): Column<Token>[] {
  const texts = t.settings.tokens
  return [
    { key: 'name', title: texts.name, cell: ({ name }) => <strong>{name}</strong> },
    { key: 'role', title: texts.role, cell: ({ role }) => t.settings.roles[role] },
    { key: 'shown', title: texts.shown, cell: ({ shown }) => <code>{shown}</code>, optional: true },
    {
      key: 'by',
      title: t.settings.createdBy,
      cell: ({ createdBy }) => <CreatedBy id={createdBy} />,
      optional: true,
    },
    {
      key: 'used',
      title: texts.lastUsed,
      cell: ({ lastUsedAt }) =>
        lastUsedAt === null ? texts.never : <span title={formatDateTime(lastUsedAt)}>{timeAgo(lastUsedAt)}</span>,
      optional: true,
    },
    {
      key: 'expires',
      title: texts.expires,
      cell: ({ expiresAt }) => (expiresAt === null ? texts.never : formatDateTime(expiresAt)),
      optional: true,
      whole: true,
    },
    {
      key: 'revoke',
      title: '',
      numeric: true,
      cell: (token) => (
        <RowAction
          text={texts.revoke}
          label={texts.revokeOf({ name: token.name })}
          isDanger
          run={() => confirmRevoke(token)}
        />
      ),
    },
  ]
}

function NewTokenPanel({ close, onCreated }: { close(): void; onCreated(response: CreatedToken): void }) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.tokens
  const draft = useDraft({ name: '', role: 'member' as Role, expiresAt: '' })
  const { name, role, expiresAt } = draft.value
  const create = () =>
    createToken(workspaceId, {
      name: name.trim(),
      role,
      expiresAt: expiresAt === '' ? null : new Date(expiresAt).toISOString(),
    })
  const save = useSave(draft, create, (response) => {
    close()
    onCreated(response)
  })
  return (
    <EditPanel title={texts.create} close={close} save={save} action={t.common.create}>
      <TextInput
        label={texts.name}
        description={texts.nameHelp}
        {...textField(draft, 'name')}
        maxLength={100}
        data-autofocus
      />
      <RoleField label={texts.role} roles={roleValues} value={role} change={(to) => draft.set({ role: to })} />
      <TextInput
        type="datetime-local"
        label={texts.expires}
        description={texts.expiresHelp}
        {...textField(draft, 'expiresAt')}
      />
    </EditPanel>
  )
}
