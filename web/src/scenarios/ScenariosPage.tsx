import { Button, Checkbox, Group } from '@mantine/core'
import { IconPlayerPlay, IconPlus } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouterState, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import {
  addStarterSet,
  type Scenario,
  type ScenarioRun,
  type Scenarios,
  scenariosKey,
  useConversationScenario,
  useScenarioRuns,
  useScenarios,
} from '../data/team/scenarios.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { errorSentence } from '../ui/format/error-texts.ts'
import { timeAgo } from '../ui/format/time.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useShortcut } from '../ui/shortcuts.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { RunPanel } from './RunPanel.tsx'
import { ScenarioPanel } from './ScenarioPanel.tsx'
import styles from './Scenarios.module.css'
import { countsText, RunStatusChip, VerdictChip } from './scenario-chips.tsx'

/** What the panel edits: a known scenario, or the text of a new one. */
type Editing = { scenario: Scenario } | { text: string } | null

const blank = `${JSON.stringify(
  {
    name: 'my-scenario',
    title: 'What happens',
    script: ['Hello! Do you ship to Recife?'],
    expect: { answers: true, messages: { atMost: 1 } },
  },
  null,
  2,
)}\n`

/** Scripts of customers that agents are tried with, and the runs. */
export function ScenariosPage() {
  const workspaceId = useWorkspaceId()
  const query = useScenarios(workspaceId)
  const { from = null } = useSearch({ from: '/w/$workspaceId/scenarios' })
  const navigate = useNavigate()
  const made = useConversationScenario(workspaceId, from)
  const mayWrite = hasRole(workspaceId, 'admin')
  const [opened, setOpened] = useState<Editing>(null)
  const editing = opened ?? (made.data === undefined ? null : { text: made.data })
  const setEditing = (next: Editing) => {
    setOpened(next)
    // The conversation is in the address until its scenario is kept or given up.
    if (next === null && from !== null) {
      void navigate({ to: '/w/$workspaceId/scenarios', params: { workspaceId }, replace: true })
    }
  }
  const { create } = t.scenarios
  const run = () => setOpened({ text: blank })
  useShortcut(t.scenarios.title, { keys: 'c', label: create, run }, mayWrite)
  return (
    <>
      <PageHeader
        title={t.scenarios.title}
        action={
          mayWrite && (
            <Button leftSection={<IconPlus size={16} />} onClick={() => setEditing({ text: blank })}>
              {create}
            </Button>
          )
        }
      />
      <PageBody>
        <QueryBoundary query={query}>
          {(data) => (
            <>
              {made.error !== null && <p className={styles.notice}>{errorSentence(made.error)}</p>}
              {!data.hasSimulator && <p className={styles.notice}>{t.scenarios.noSimulator}</p>}
              <ScenarioList data={data} open={(scenario) => setEditing({ scenario })} />
              <Runs />
            </>
          )}
        </QueryBoundary>
      </PageBody>
      {editing !== null && <ScenarioPanel editing={editing} close={() => setEditing(null)} />}
    </>
  )
}

function useStarterSet() {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => addStarterSet(workspaceId),
    onSuccess: async (n) => {
      await queries.invalidateQueries({ queryKey: scenariosKey(workspaceId) })
      showToast(t.scenarios.starterAdded({ n }))
    },
    onError: showError,
  })
}

function ScenarioList({ data, open }: { data: Scenarios; open: (scenario: Scenario) => void }) {
  const workspaceId = useWorkspaceId()
  const starter = useStarterSet()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [isStarting, setStarting] = useState(false)
  // A draft that is tried before it is published.
  const instructions = useRouterState({ select: ({ location }) => location.state.instructions })
  const mayWrite = hasRole(workspaceId, 'admin')
  const texts = t.scenarios
  const { scenarios } = data
  if (scenarios.length === 0) {
    const action = { label: texts.addStarter, run: () => starter.mutate() }
    return <EmptyState title={texts.empty} help={texts.emptyHelp} {...(mayWrite && { action })} />
  }
  const choose = (id: string, isChosen: boolean) =>
    setChosen((before) => new Set(isChosen ? [...before, id] : [...before].filter((one) => one !== id)))
  const run = chosen.size === 0 ? scenarios : scenarios.filter(({ id }) => chosen.has(id))
  return (
    <section className={styles.section}>
      {instructions !== undefined && <p className={styles.notice}>{texts.withDraft}</p>}
      <Group justify="space-between">
        <p className={styles.muted}>{texts.help}</p>
        {mayWrite && (
          <Group gap="xs">
            <Button variant="default" loading={starter.isPending} onClick={() => starter.mutate()}>
              {texts.addStarter}
            </Button>
            <Button
              leftSection={<IconPlayerPlay size={16} />}
              disabled={!data.hasSimulator}
              onClick={() => setStarting(true)}
            >
              {texts.run({ n: run.length })}
            </Button>
          </Group>
        )}
      </Group>
      <Table
        label={texts.title}
        columns={columnsOf(mayWrite, chosen, choose)}
        rows={scenarios}
        keyOf={({ id }) => id}
        open={open}
      />
      {isStarting && (
        <RunPanel
          scenarios={run}
          instructions={instructions ?? ''}
          publicUrl={data.publicUrl}
          close={() => setStarting(false)}
        />
      )}
    </section>
  )
}

function columnsOf(
  mayWrite: boolean,
  chosen: ReadonlySet<string>,
  choose: (id: string, isChosen: boolean) => void,
): Column<Scenario>[] {
  const texts = t.scenarios
  const box: Column<Scenario> = {
    key: 'box',
    title: '',
    cell: ({ id, name }) => (
      <Checkbox
        checked={chosen.has(id)}
        onChange={(event) => choose(id, event.currentTarget.checked)}
        aria-label={texts.choose({ name })}
      />
    ),
  }
  return [
    {
      key: 'title',
      title: texts.scenario,
      cell: ({ title, name }) => (
        <span className={styles.name}>
          <span dir="auto">{title}</span>
          <span className={styles.muted}>{name}</span>
        </span>
      ),
    },
    { key: 'tags', title: texts.tags, cell: ({ tags }) => tags.join(', '), optional: true },
    {
      key: 'last',
      title: texts.last,
      cell: ({ lastVerdict }) => (lastVerdict === null ? texts.never : <VerdictChip verdict={lastVerdict} />),
    },
    ...(mayWrite ? [box] : []),
  ]
}

function Runs() {
  const workspaceId = useWorkspaceId()
  const query = useScenarioRuns(workspaceId)
  const navigate = useNavigate()
  const texts = t.scenarios
  if (query.data === undefined || query.data.length === 0) return null
  const columns: Column<ScenarioRun>[] = [
    { key: 'agent', title: texts.agent, cell: ({ agent }) => agent },
    { key: 'status', title: texts.status, cell: ({ status }) => <RunStatusChip status={status} /> },
    { key: 'counts', title: texts.results, cell: countsText },
    { key: 'when', title: texts.when, cell: ({ createdAt }) => timeAgo(createdAt), optional: true },
  ]
  return (
    <section className={styles.section}>
      <h2>{texts.runs}</h2>
      <Table
        label={texts.runs}
        columns={columns}
        rows={query.data}
        keyOf={({ id }) => id}
        open={({ id: runId }) =>
          void navigate({ to: '/w/$workspaceId/scenarios/$runId', params: { workspaceId, runId } })
        }
      />
    </section>
  )
}
