import { Button, Stack } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { type IdentityProvider, type SignOnEntry, useIdentityProviders, useSignOnLog } from '../../data/team/sso.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { Table } from '../../ui/page/Table.tsx'
import styles from '../List.module.css'
import { DisabledUsers } from './DisabledUsers.tsx'
import { ProviderCard } from './ProviderCard.tsx'
import { ProviderPanel } from './ProviderPanel.tsx'

/** Identity providers of the installation. For operators. */
export function SignOnSection() {
  const texts = t.settings.sso
  const query = useIdentityProviders()
  const [editing, setEditing] = useState<IdentityProvider | 'new' | null>(null)
  const add = () => setEditing('new')
  return (
    <>
      <div className={styles.bar}>
        <Button leftSection={<IconPlus size={16} />} onClick={add}>
          {texts.add}
        </Button>
      </div>
      <QueryBoundary query={query}>
        {(providers) =>
          providers.length === 0 ? (
            <EmptyState title={texts.empty} action={{ label: texts.add, run: add }} />
          ) : (
            <Stack gap="md">
              {providers.map((provider) => (
                <ProviderCard key={provider.id} provider={provider} edit={() => setEditing(provider)} />
              ))}
              <SignOnLog providers={providers} />
            </Stack>
          )
        }
      </QueryBoundary>
      <DisabledUsers />
      {editing !== null && (
        <ProviderPanel provider={editing === 'new' ? null : editing} close={() => setEditing(null)} />
      )}
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
