import { Button, Group, Stack, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { revokeToken, type Token, tokensKey, useTokens } from '../data/team/tokens.ts'
import { CreatedBy } from '../shared/CreatedBy.tsx'
import { t } from '../text/index.ts'
import { Copyable } from '../ui/Copyable.tsx'
import { formatDateTime, timeAgo } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { Dialog } from '../ui/overlay/Dialog.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './List.module.css'
import { NewTokenPanel } from './NewTokenPanel.tsx'

export function TokensSection() {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.tokens
  const query = useTokens(workspaceId)
  const queries = useQueryClient()
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<{ token: Token; value: string } | null>(null)
  const [confirming, setConfirming] = useState<Token | null>(null)
  const changed = () => queries.invalidateQueries({ queryKey: tokensKey(workspaceId) })
  const revoke = async ({ id, name }: Token) => {
    await revokeToken(workspaceId, id)
    setConfirming(null)
    showToast(texts.revoked({ name }))
    await changed()
  }
  const create = () => setCreating(true)
  return (
    <>
      <div className={styles.bar}>
        <Button leftSection={<IconPlus size={16} />} onClick={create}>
          {texts.create}
        </Button>
      </div>
      <QueryBoundary query={query}>
        {(tokens) =>
          tokens.length === 0 ? (
            <EmptyState title={texts.empty} action={{ label: texts.create, run: create }} />
          ) : (
            <Table
              label={t.settings.sections.tokens.title}
              rows={tokens}
              keyOf={({ id }) => id}
              columns={[...columns(), revokeColumn(setConfirming)]}
            />
          )
        }
      </QueryBoundary>
      {isCreating && (
        <NewTokenPanel
          close={() => setCreating(false)}
          onCreated={(response) => {
            setCreating(false)
            setCreated(response)
            void changed()
          }}
        />
      )}
      {created !== null && (
        <TokenValue name={created.token.name} value={created.value} close={() => setCreated(null)} />
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

function columns(): Column<Token>[] {
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
  ]
}

const revokeColumn = (confirmRevoke: (token: Token) => void): Column<Token> => ({
  key: 'revoke',
  title: '',
  numeric: true,
  cell: (token) => (
    <Button
      size="compact-sm"
      variant="subtle"
      color="red"
      aria-label={t.settings.tokens.revokeOf({ name: token.name })}
      onClick={() => confirmRevoke(token)}
    >
      {t.settings.tokens.revoke}
    </Button>
  ),
})

/** Shows the value of a token, once. Only its button closes it. */
function TokenValue({ name, value, close }: { name: string; value: string; close(): void }) {
  const texts = t.settings.tokens
  return (
    <Dialog
      close={close}
      title={texts.valueOf({ name })}
      size={600}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        <Text size="md">{texts.valueHelp}</Text>
        <Copyable value={value} label={texts.value} />
        <Group justify="flex-end">
          <Button onClick={close} data-autofocus>
            {texts.savedIt}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
