import { Button, Group, Stack, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { revokeToken, type Token, tokensKey, useTokens } from '../data/team/tokens.ts'
import { MadeBy } from '../shared/MadeBy.tsx'
import { t } from '../text/index.ts'
import { Copyable } from '../ui/Copyable.tsx'
import { ago, fullMoment } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { Dialog } from '../ui/overlay/Dialog.tsx'
import { complain, say } from '../ui/overlay/notices.tsx'
import { Empty } from '../ui/page/Empty.tsx'
import { Loaded } from '../ui/page/PageBody.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './List.module.css'
import { NewTokenPanel } from './NewTokenPanel.tsx'

export function TokensSection() {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.tokens
  const query = useTokens(workspaceId)
  const queries = useQueryClient()
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<{ token: Token; value: string } | null>(null)
  const [asks, setAsks] = useState<Token | null>(null)
  const changed = () => queries.invalidateQueries({ queryKey: tokensKey(workspaceId) })
  const revoke = async ({ id, name }: Token) => {
    await revokeToken(workspaceId, id)
    setAsks(null)
    say(texts.revoked({ name }))
    await changed()
  }
  const make = () => setMaking(true)
  return (
    <>
      <div className={styles.bar}>
        <Button leftSection={<IconPlus size={16} />} onClick={make}>
          {texts.make}
        </Button>
      </div>
      <Loaded query={query}>
        {(tokens) =>
          tokens.length === 0 ? (
            <Empty title={texts.empty} action={{ label: texts.make, run: make }} />
          ) : (
            <Table
              label={t.settings.sections.tokens.title}
              rows={tokens}
              keyOf={({ id }) => id}
              columns={[...columns(), revokeColumn(setAsks)]}
            />
          )
        }
      </Loaded>
      {isMaking && (
        <NewTokenPanel
          close={() => setMaking(false)}
          made={(answer) => {
            setMaking(false)
            setMade(answer)
            void changed()
          }}
        />
      )}
      {made !== null && <TokenValue name={made.token.name} value={made.value} close={() => setMade(null)} />}
      {asks !== null && (
        <Confirm
          title={texts.revokeAsk({ name: asks.name })}
          action={texts.revoke}
          word={asks.name}
          run={() => revoke(asks).catch(complain)}
          close={() => setAsks(null)}
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
      title: t.settings.madeBy,
      cell: ({ createdBy }) => <MadeBy id={createdBy} />,
      optional: true,
    },
    {
      key: 'used',
      title: texts.lastUsed,
      cell: ({ lastUsedAt }) =>
        lastUsedAt === null ? texts.never : <span title={fullMoment(lastUsedAt)}>{ago(lastUsedAt)}</span>,
      optional: true,
    },
    {
      key: 'expires',
      title: texts.expires,
      cell: ({ expiresAt }) => (expiresAt === null ? texts.never : fullMoment(expiresAt)),
      optional: true,
      whole: true,
    },
  ]
}

const revokeColumn = (ask: (token: Token) => void): Column<Token> => ({
  key: 'revoke',
  title: '',
  numeric: true,
  cell: (token) => (
    <Button
      size="compact-sm"
      variant="subtle"
      color="red"
      aria-label={t.settings.tokens.revokeOf({ name: token.name })}
      onClick={() => ask(token)}
    >
      {t.settings.tokens.revoke}
    </Button>
  ),
})

/** The only sight of a token's value. Nothing but its button closes it. */
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
            {texts.kept}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
