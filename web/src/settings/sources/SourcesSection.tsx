import { Button, Group } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { type LeadSource, useLeadSources } from '../../data/team/lead-sources.ts'
import { t } from '../../text/index.ts'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { Table } from '../../ui/page/Table.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from '../List.module.css'
import { RequestsPanel } from './RequestsPanel.tsx'
import { SourcePanel } from './SourcePanel.tsx'

/** Webhooks and lead ads that create leads. */
export function SourcesSection() {
  const texts = t.settings.sources
  const query = useLeadSources(useWorkspaceId())
  const [editing, setEditing] = useState<LeadSource | 'new' | null>(null)
  const [shown, setShown] = useState<LeadSource | null>(null)
  const add = () => setEditing('new')
  return (
    <>
      <div className={styles.bar}>
        <Button leftSection={<IconPlus size={16} />} onClick={add}>
          {texts.add}
        </Button>
      </div>
      <QueryBoundary query={query}>
        {(sources) =>
          sources.length === 0 ? (
            <EmptyState title={texts.empty} help={texts.emptyHelp} action={{ label: texts.add, run: add }} />
          ) : (
            <Table
              label={t.settings.sections.sources.title}
              rows={sources}
              keyOf={({ id }) => id}
              open={setEditing}
              columns={[
                { key: 'name', title: texts.name, cell: ({ name }) => name },
                { key: 'kind', title: texts.kind, cell: ({ kind }) => texts.kinds[kind], optional: true },
                { key: 'state', title: texts.state, cell: ({ isEnabled }) => (isEnabled ? texts.on : texts.off) },
                {
                  key: 'requests',
                  title: '',
                  cell: (source) => (
                    <Group justify="end">
                      <Button
                        size="compact-sm"
                        variant="default"
                        aria-label={texts.requestsOf({ name: source.name })}
                        onClick={() => setShown(source)}
                      >
                        {texts.requests}
                      </Button>
                    </Group>
                  ),
                },
              ]}
            />
          )
        }
      </QueryBoundary>
      {editing !== null && <SourcePanel source={editing === 'new' ? null : editing} close={() => setEditing(null)} />}
      {shown !== null && <RequestsPanel source={shown} close={() => setShown(null)} />}
    </>
  )
}
