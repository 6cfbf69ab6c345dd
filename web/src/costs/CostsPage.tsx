import { Button, FileButton, Group } from '@mantine/core'
import { IconDownload, IconUpload } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { type Costs, costsExportUrl, importRateCards, useCosts } from '../data/team/costs.ts'
import { t } from '../text/index.ts'
import { problemText } from '../ui/format/error-texts.ts'
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
  const [faults, setFaults] = useState<readonly string[]>([])
  const days = Number(period)
  const query = useCosts(workspaceId, days, 'day')
  const { costs: texts, home } = t
  return (
    <>
      <PageHeader
        title={t.common.pages.costs}
        action={
          <Group gap="sm" wrap="nowrap">
            <ImportButton setFaults={setFaults} />
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
        <FaultList faults={faults} />
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

/** Why a file was not imported, row by row. */
function FaultList({ faults }: { faults: readonly string[] }) {
  if (faults.length === 0) return null
  return (
    <div className={styles.faults} role="alert">
      <p>{t.costs.notImported}</p>
      <ul>
        {faults.map((fault) => (
          <li key={fault}>{fault}</li>
        ))}
      </ul>
    </div>
  )
}

function faultsOf(error: unknown): string[] {
  if (!(error instanceof ApiError)) return []
  return [...error.issues].map(([path, message]) => {
    const row = /row (\d+)/.exec(path)?.[1]
    return row === undefined ? problemText(message) : `${t.costs.row({ n: row })}: ${problemText(message)}`
  })
}

function ImportButton({ setFaults }: { setFaults: (faults: readonly string[]) => void }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const [isImporting, setImporting] = useState(false)
  const importFile = async (file: File) => {
    setImporting(true)
    setFaults([])
    try {
      const n = await importRateCards(queries, workspaceId, await file.text())
      showToast(t.costs.imported({ n }))
    } catch (error) {
      const faults = faultsOf(error)
      if (faults.length === 0) showError(error)
      else setFaults(faults)
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
