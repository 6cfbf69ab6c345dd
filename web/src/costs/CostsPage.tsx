import { Button, FileButton, Group } from '@mantine/core'
import { IconDownload, IconUpload } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Costs, costsExportUrl, importRateCards, useCosts } from '../data/team/costs.ts'
import { t } from '../text/index.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { CostCharts } from './CostCharts.tsx'
import { CostFigures } from './CostFigures.tsx'
import { CostGroups } from './CostGroups.tsx'
import styles from './CostsPage.module.css'

const periods = ['7', '30', '90'] as const
type Period = (typeof periods)[number]

/** What the platform charges for messages. */
export function CostsPage() {
  const workspaceId = useWorkspaceId()
  const [period, setPeriod] = useState<Period>('30')
  const days = Number(period)
  const query = useCosts(workspaceId, days, 'day')
  const { costs: texts, home } = t
  return (
    <>
      <PageHeader
        title={t.common.pages.costs}
        action={
          <Group gap="sm" wrap="nowrap">
            <ImportButton />
            <Button
              component="a"
              href={costsExportUrl(workspaceId, days)}
              download
              variant="default"
              leftSection={<IconDownload size={16} />}
            >
              {texts.csv}
            </Button>
          </Group>
        }
      >
        <Segments
          label={home.span}
          data={periods.map((value) => ({ value, label: home.spans[value] }))}
          value={period}
          onChange={setPeriod}
        />
      </PageHeader>
      <PageBody>
        <QueryBoundary query={query} rows={8}>
          {(costs) => <Overview costs={costs} days={days} />}
        </QueryBoundary>
      </PageBody>
    </>
  )
}

function Overview({ costs, days }: { costs: Costs; days: number }) {
  const texts = t.costs
  if (costs.total.messages === 0) return <EmptyState title={texts.empty} help={texts.emptyHelp} />
  return (
    <div className={styles.page}>
      {costs.currency === null && <p className={styles.notice}>{texts.noCard}</p>}
      <CostFigures costs={costs} />
      <CostCharts costs={costs} days={days} />
      <CostGroups currency={costs.currency} days={days} />
      <p className={styles.muted}>{texts.help({ zone: costs.timeZone })}</p>
    </div>
  )
}

function ImportButton() {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const [isImporting, setImporting] = useState(false)
  const importFile = async (file: File) => {
    setImporting(true)
    try {
      const n = await importRateCards(queries, workspaceId, await file.text())
      showToast(t.costs.imported({ n }))
    } catch (error) {
      showError(error)
    } finally {
      setImporting(false)
    }
  }
  return (
    <FileButton accept=".csv,text/csv" onChange={(file) => file !== null && void importFile(file)}>
      {(props) => (
        <Button {...props} variant="default" loading={isImporting} leftSection={<IconUpload size={16} />}>
          {t.costs.importCard}
        </Button>
      )}
    </FileButton>
  )
}
