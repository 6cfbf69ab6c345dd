import { Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import {
  disabledUsersKey,
  enableUser,
  type IdentityProvider,
  type SignOnEntry,
  useDisabledUsers,
  useIdentityProviders,
  useSignOnLog,
} from '../../data/team/sso.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { Table } from '../../ui/page/Table.tsx'
import { ItemList } from '../parts/ItemList.tsx'
import { RowAction } from '../parts/RowButton.tsx'
import { ProviderCard } from './ProviderCard.tsx'
import { ProviderPanel } from './ProviderPanel.tsx'

/** Identity providers of the installation. For operators. */
export function SignOnSection() {
  const texts = t.settings.sso
  const query = useIdentityProviders()
  return (
    <>
      <ItemList
        query={query}
        create={texts.add}
        empty={texts.empty}
        panel={(provider, close) => <ProviderPanel provider={provider} close={close} />}
      >
        {(providers, open) => (
          <Stack gap="md">
            {providers.map((provider) => (
              <ProviderCard key={provider.id} provider={provider} edit={() => open(provider)} />
            ))}
            <SignOnLog providers={providers} />
          </Stack>
        )}
      </ItemList>
      <DisabledUsers />
    </>
  )
}

function SignOnLog({ providers }: { providers: readonly IdentityProvider[] }) {
  const texts = t.settings.sso
  const query = useSignOnLog()
  const nameOf = ({ target }: SignOnEntry) => providers.find(({ id }) => target?.endsWith(id))?.name ?? ''
  return (
    <Section title={texts.recent}>
      <QueryBoundary query={query} rows={3}>
        {(entries) =>
          entries.length === 0 ? (
            <EmptyState title={texts.recentEmpty} />
          ) : (
            <Table
              label={texts.recent}
              rows={entries}
              keyOf={({ id }) => id}
              columns={[
                { key: 'at', title: t.settings.audit.when, cell: ({ at }) => formatDateTime(at), whole: true },
                { key: 'what', title: t.settings.audit.what, cell: entryText },
                { key: 'provider', title: texts.name, cell: nameOf, optional: true },
              ]}
            />
          )
        }
      </QueryBoundary>
    </Section>
  )
}

function entryText({ action, count, details }: SignOnEntry): string {
  const { log, times } = t.settings.sso
  const problem = (details as { problem?: { after?: string } } | null)?.problem?.after ?? ''
  const { 'sso.failed': failed, ...fixed } = log
  const words: Record<string, string> = fixed
  const text = action === 'sso.failed' ? failed({ problem }) : (words[action] ?? action)
  return count > 1 ? `${text} (${times({ count })})` : text
}

/** Accounts that a provider has switched off; renders nothing without any. */
function DisabledUsers() {
  const texts = t.settings.sso.disabledUsers
  const { data: users = [] } = useDisabledUsers()
  const queries = useQueryClient()
  if (users.length === 0) return null
  const enable = ({ name, email }: (typeof users)[number]) =>
    enableUser(email).then(() => {
      showToast(texts.enabled({ name }))
      return queries.invalidateQueries({ queryKey: disabledUsersKey })
    }, showError)
  return (
    <Section title={texts.title} help={texts.help}>
      <Table
        label={texts.title}
        rows={users}
        keyOf={({ id }) => id}
        columns={[
          { key: 'person', title: t.settings.sso.name, cell: ({ name }) => name },
          { key: 'email', title: t.settings.members.email, cell: ({ email }) => email },
          { key: 'at', title: texts.since, cell: ({ disabledAt }) => formatDateTime(disabledAt), optional: true },
          {
            key: 'enable',
            title: '',
            numeric: true,
            cell: (user) => (
              <RowAction
                text={texts.enable}
                label={texts.enableOf({ name: user.name })}
                run={() => void enable(user)}
              />
            ),
          },
        ]}
      />
    </Section>
  )
}
