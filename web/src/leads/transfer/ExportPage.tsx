import { Button, Radio, Stack } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { exportUrl } from '../../data/imports.ts'
import { useLabelsById } from '../../data/labels.ts'
import { type LeadFilters, useLeadCount } from '../../data/leads.ts'
import { usePeople } from '../../data/people.ts'
import { useCurrency } from '../../data/workspace.ts'
import { hasRole } from '../../session/session.ts'
import { addressOf, conditionsOf } from '../../shared/lead-view/address.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { BackLink } from '../../ui/page/BackLink.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { PageBody, QueryBoundary } from '../../ui/page/PageBody.tsx'
import { PageHeader } from '../../ui/page/PageHeader.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useCustomColumns } from '../fields/custom-columns.ts'
import { describeCondition } from '../filters/sentence.ts'
import { readFilters } from './search.ts'
import styles from './transfer.module.css'

/** Exports leads by the filters in the address; for owners, recorded in the audit log. */
export function ExportPage() {
  const workspaceId = useWorkspaceId()
  const filters = readFilters(useSearch({ strict: false }))
  return (
    <>
      <PageHeader title={t.transfer.exportTitle} before={<BackLink path="leads" label={t.common.pages.leads} />} />
      <PageBody narrow>
        {hasRole(workspaceId, 'owner') ? <Export filters={filters} /> : <ErrorState error={new ApiError(403, '')} />}
      </PageBody>
    </>
  )
}

function Export({ filters }: { filters: LeadFilters }) {
  const workspaceId = useWorkspaceId()
  const count = useLeadCount(workspaceId, filters)
  const [format, setFormat] = useState<'csv' | 'ndjson'>('csv')
  const { export: texts } = t.transfer
  return (
    <section className={styles.card} aria-label={t.transfer.exportTitle}>
      <QueryBoundary query={count} rows={1}>
        {(total) => <strong>{texts.count({ n: total })}</strong>}
      </QueryBoundary>
      <div className={styles.row}>
        <Filters filters={filters} />
      </div>
      <Radio.Group
        label={texts.format}
        value={format}
        onChange={(chosen) => setFormat(chosen === 'ndjson' ? 'ndjson' : 'csv')}
      >
        <Stack gap={6} mt={4}>
          <Radio value="csv" label={texts.csv} description={texts.csvHelp} />
          <Radio value="ndjson" label={texts.ndjson} description={texts.ndjsonHelp} />
        </Stack>
      </Radio.Group>
      <p className={styles.muted}>{texts.audit}</p>
      <div className={styles.end}>
        <Button
          component="a"
          href={exportUrl(workspaceId, format, filters)}
          download
          leftSection={<IconDownload size={16} aria-hidden="true" />}
        >
          {texts.download}
        </Button>
      </div>
    </section>
  )
}

/** The filters as text. */
function Filters({ filters }: { filters: LeadFilters }) {
  const workspaceId = useWorkspaceId()
  const people = usePeople(workspaceId)
  const labels = useLabelsById(workspaceId)
  const customs = useCustomColumns(workspaceId)
  const names = { people, customs, labels, currency: useCurrency(workspaceId) }
  const address = addressOf(filters)
  const { everything, search } = t.transfer.export
  const sentences = conditionsOf(address).map((condition) => describeCondition(condition, names))
  const all = [
    ...sentences,
    ...(address.match === undefined ? [] : [t.filtering.any]),
    ...(address.import === undefined ? [] : [t.leads.filters.fromImport]),
    ...(address.q === undefined ? [] : [search({ term: address.q })]),
  ]
  if (all.length === 0) return <span>{everything}</span>
  return all.map((sentence) => (
    <Chip key={sentence} tone="accent">
      {sentence}
    </Chip>
  ))
}
