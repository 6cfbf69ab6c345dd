import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { type LeadSource, useLeadSources } from '../../data/team/lead-sources.ts'
import { t } from '../../text/index.ts'
import { Table } from '../../ui/page/Table.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { ItemList } from '../parts/ItemList.tsx'
import { RequestsPanel } from './RequestsPanel.tsx'
import { SourcePanel } from './SourcePanel.tsx'

/** Webhooks and lead ads that create leads. */
export function SourcesSection() {
  const texts = t.settings.sources
  const query = useLeadSources(useWorkspaceId())
  const [shown, setShown] = useState<LeadSource | null>(null)
  return (
    <>
      <ItemList
        query={query}
        create={texts.add}
        empty={texts.empty}
        emptyHelp={texts.emptyHelp}
        panel={(source, close) => <SourcePanel source={source} close={close} />}
      >
        {(sources, open) => (
          <Table
            label={t.settings.sections.sources.title}
            rows={sources}
            keyOf={({ id }) => id}
            open={open}
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
        )}
      </ItemList>
      {shown !== null && <RequestsPanel source={shown} close={() => setShown(null)} />}
    </>
  )
}
