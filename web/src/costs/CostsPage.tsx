import { Button, FileButton, Group, TextInput } from '@mantine/core'
import { IconDownload, IconUpload } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { type Costs, costsExportUrl, importRateCards, useCosts } from '../data/team/costs.ts'
import { Form } from '../shared/Form.tsx'
import { t } from '../text/index.ts'
import { problemText } from '../ui/format/error-texts.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { Budgets } from './Budgets.tsx'
import { CostOverview } from './CostOverview.tsx'
import styles from './CostsPage.module.css'

const periods = ['7', '30', '90'] as const
type Period = (typeof periods)[number]

/** What the platform charges for messages. */
export function CostsPage() {
  const workspaceId = useWorkspaceId()
  const [period, setPeriod] = useState<Period>('30')
  const [currency, setCurrency] = useState<string | null>(null)
  const [faults, setFaults] = useState<readonly string[]>([])
  const days = Number(period)
  const query = useCosts(workspaceId, days, 'day', currency)
  const cardImport = useCardImport(setFaults)
  const { costs: texts, home } = t
  return (
    <>
      <PageHeader
        title={t.common.pages.costs}
        action={
          <Group gap="sm" wrap="nowrap">
            <ImportButton cardImport={cardImport} />
            <Button
              component="a"
              href={costsExportUrl(workspaceId, days, currency)}
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
        <DayForm cardImport={cardImport} />
        <Budgets />
        <QueryBoundary query={query} rows={8}>
          {(costs) => (
            <>
              <Currencies costs={costs} setCurrency={setCurrency} />
              <CostOverview costs={costs} days={days} />
            </>
          )}
        </QueryBoundary>
      </PageBody>
    </>
  )
}

/** Switches between currencies, which are never added up; nothing while there is one. */
function Currencies({ costs, setCurrency }: { costs: Costs; setCurrency: (currency: string) => void }) {
  const { currency, currencies } = costs
  if (currencies.length < 2) return null
  return (
    <Segments
      label={t.costs.currency}
      data={currencies.map((value) => ({ value, label: value }))}
      value={currency ?? ''}
      onChange={setCurrency}
    />
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
    const [, row, column] = /row (\d+)(?: column (.+))?/.exec(path) ?? []
    if (row === undefined) return problemText(message)
    const place = [t.costs.row({ n: row }), ...(column === undefined ? [] : [column])].join(', ')
    return `${place}: ${problemText(message)}`
  })
}

type CardImport = ReturnType<typeof useCardImport>

/** Imports files; keeps one of the platform until a person has said from which day it is valid. */
function useCardImport(setFaults: (faults: readonly string[]) => void) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const [isImporting, setImporting] = useState(false)
  const [undated, setUndated] = useState<string | null>(null)
  const run = async (csv: string, validFrom: string | null) => {
    setImporting(true)
    setFaults([])
    setUndated(null)
    try {
      const n = await importRateCards(queries, workspaceId, { csv, validFrom })
      showToast(t.costs.imported({ n }))
    } catch (error) {
      if (error instanceof ApiError && error.issues.has('validFrom')) {
        setUndated(csv)
        return
      }
      const faults = faultsOf(error)
      if (faults.length === 0) showError(error)
      else setFaults(faults)
    } finally {
      setImporting(false)
    }
  }
  return { isImporting, undated, run }
}

function ImportButton({ cardImport: { isImporting, run } }: { cardImport: CardImport }) {
  const importFile = async (file: File) => run(await file.text(), null)
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

/** Asks from which day a file of the platform is valid, which the file does not say. */
function DayForm({ cardImport: { undated, isImporting, run } }: { cardImport: CardImport }) {
  const [day, setDay] = useState('')
  if (undated === null) return null
  return (
    <Form submit={() => day !== '' && run(undated, day)} className={styles.faults}>
      <Group gap="sm" align="end">
        <TextInput
          type="date"
          label={t.costs.validFrom}
          description={t.costs.validFromHelp}
          value={day}
          onChange={(event) => setDay(event.currentTarget.value)}
        />
        <Button type="submit" loading={isImporting} disabled={day === ''}>
          {t.costs.importCard}
        </Button>
      </Group>
    </Form>
  )
}
