import { Button, Group, Menu, Switch } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { useConnections } from '../data/connections.ts'
import {
  type Sequence,
  type SequenceRun,
  useSequenceActions,
  useSequenceCounts,
  useSequenceRuns,
  useSequences,
} from '../data/outreach/sequences.ts'
import { useWorkspace } from '../data/workspace.ts'
import { hasRole } from '../session/session.ts'
import { LeaveDialog } from '../shared/LeaveDialog.tsx'
import { codeText, runText } from '../shared/sequences/run-texts.ts'
import { canStart } from '../shared/start/start-rules.ts'
import { t } from '../text/index.ts'
import { formatDateTime, formatNumber } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { BackLink } from '../ui/page/BackLink.tsx'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { ErrorState } from '../ui/page/ErrorState.tsx'
import { MoreMenu } from '../ui/page/MoreMenu.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { Section, SectionTitle } from '../ui/page/Section.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useShortcut } from '../ui/shortcuts.ts'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { SequenceFields } from './SequenceFields.tsx'
import styles from './Sequences.module.css'
import { StateChip } from './SequencesPage.tsx'
import { draftOf, emptyDraft } from './sequence-draft.ts'

/** Page of a sequence: steps, results, leads. */
export function SequencePage() {
  const workspaceId = useWorkspaceId()
  const { sequenceId = '' } = useParams({ strict: false })
  const query = useSequences(workspaceId, { isLive: true })
  const sequence = query.data?.find(({ id }) => id === sequenceId)
  if (sequenceId === 'new' && hasRole(workspaceId, 'admin')) return <NewSequence />
  if (sequence !== undefined) return <SequenceView key={sequenceId} sequence={sequence} />
  return (
    <>
      <PageHeader title={t.sequences.title} before={<Back />} />
      <QueryBoundary query={query}>{() => <ErrorState error={new ApiError(404, '')} />}</QueryBoundary>
    </>
  )
}

const Back = () => <BackLink path="sequences" label={t.sequences.title} />

function NewSequence() {
  const workspaceId = useWorkspaceId()
  const query = useConnections(workspaceId)
  const workspace = useWorkspace(workspaceId)
  return (
    <QueryBoundary query={query}>
      {(connections) => {
        const first = connections.find(canStart)
        if (first !== undefined) {
          return (
            <QueryBoundary query={workspace}>
              {({ leadStatuses }) => <NewFields connectionId={first.id} statuses={leadStatuses} />}
            </QueryBoundary>
          )
        }
        return (
          <>
            <PageHeader title={t.sequences.create} before={<Back />} />
            <EmptyState title={t.sequences.noConnection} />
          </>
        )
      }}
    </QueryBoundary>
  )
}

function NewFields({ connectionId, statuses }: { connectionId: string; statuses: readonly string[] }) {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const { create } = useSequenceActions(workspaceId)
  const draft = useDraft(emptyDraft(connectionId, statuses))
  const isSaved = useRef(false)
  const save = useMutation({
    mutationFn: () => create(draft.value),
    onSuccess: ({ id: sequenceId }) => {
      isSaved.current = true
      return navigate({
        to: '/w/$workspaceId/sequences/$sequenceId',
        params: { workspaceId, sequenceId },
        replace: true,
      })
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <>
      <PageHeader
        title={t.sequences.create}
        before={<Back />}
        action={
          <Button onClick={() => save.mutate()} loading={save.isPending}>
            {t.common.create}
          </Button>
        }
      />
      <PageBody narrow>
        <SequenceFields draft={draft} isNew />
      </PageBody>
      <LeaveDialog help={t.sequences.leaveHelp} isChanged={draft.isChanged} shouldStay={() => isSaved.current} />
    </>
  )
}

const views = ['steps', 'results', 'leads'] as const
type View = (typeof views)[number]

function SequenceView({ sequence }: { sequence: Sequence }) {
  const workspaceId = useWorkspaceId()
  const texts = t.sequences
  const mayChange = hasRole(workspaceId, 'admin')
  const { change } = useSequenceActions(workspaceId)
  const draft = useDraft(draftOf(sequence))
  const [view, setView] = useState<View>(mayChange && !sequence.enabled ? 'steps' : 'results')
  const save = useMutation({
    mutationFn: () => change(sequence.id, draft.value),
    onSuccess: (saved) => {
      draft.reset(draftOf(saved))
      showToast(texts.saved)
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const { mutate } = save
  useShortcut(texts.title, { keys: 'mod+s', label: t.common.save, run: mutate, inFields: true }, mayChange)
  return (
    <>
      <PageHeader
        title={sequence.name}
        before={<Back />}
        action={
          mayChange && (
            <Group gap="xs" wrap="nowrap">
              <EnabledSwitch sequence={sequence} onProblem={() => setView('steps')} />
              <Button onClick={() => mutate()} loading={save.isPending} disabled={!draft.isChanged}>
                {t.common.save}
              </Button>
              <RemoveMenu sequence={sequence} />
            </Group>
          )
        }
      >
        {(!mayChange || sequence.problems.length > 0) && <StateChip sequence={sequence} />}
      </PageHeader>
      <Group m="8px 16px">
        <Segments
          label={texts.view}
          data={views.map((value) => ({ value, label: texts.views[value] }))}
          value={view}
          onChange={setView}
        />
      </Group>
      <PageBody narrow={view === 'steps'}>
        {view === 'steps' && <SequenceFields draft={draft} problems={sequence.problems} isReadOnly={!mayChange} />}
        {view === 'results' && <Results sequence={sequence} />}
        {view === 'leads' && <RunLog sequence={sequence} />}
      </PageBody>
      <LeaveDialog
        help={texts.leaveHelp}
        isChanged={draft.isChanged}
        shouldStay={(place) => place.endsWith(sequence.id)}
      />
    </>
  )
}

/** Switching it off ends it for all leads, which is confirmed if there are any. */
function EnabledSwitch({ sequence, onProblem }: { sequence: Sequence; onProblem(): void }) {
  const texts = t.sequences
  const { change } = useSequenceActions(useWorkspaceId())
  const [isConfirming, setConfirming] = useState(false)
  const set = (enabled: boolean) =>
    change(sequence.id, { enabled }).then(
      () => setConfirming(false),
      (error) => {
        showError(error)
        onProblem()
      },
    )
  return (
    <>
      <Switch
        label={texts.on}
        checked={sequence.enabled}
        onChange={({ currentTarget: { checked } }) => {
          if (!checked && sequence.activeRuns > 0) setConfirming(true)
          else void set(checked)
        }}
      />
      {isConfirming && (
        <Confirm
          title={texts.offConfirm({ name: sequence.name })}
          action={texts.switchOff}
          run={() => set(false)}
          close={() => setConfirming(false)}
        >
          {texts.offHelp({ n: sequence.activeRuns })}
        </Confirm>
      )}
    </>
  )
}

function RemoveMenu({ sequence }: { sequence: Sequence }) {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const texts = t.sequences
  const { remove } = useSequenceActions(workspaceId)
  const [isRemoving, setRemoving] = useState(false)
  const run = () =>
    remove(sequence.id).then(async () => {
      await navigate({ to: '/w/$workspaceId/sequences', params: { workspaceId } })
      showToast(texts.removed({ name: sequence.name }))
    }, showError)
  return (
    <>
      <MoreMenu>
        <Menu.Item leftSection={<IconTrash size={16} />} onClick={() => setRemoving(true)}>
          {t.common.delete}
        </Menu.Item>
      </MoreMenu>
      {isRemoving && (
        <Confirm
          title={texts.removeConfirm({ name: sequence.name })}
          action={t.common.delete}
          run={run}
          close={() => setRemoving(false)}
        >
          {texts.removeHelp}
        </Confirm>
      )}
    </>
  )
}

/** What became of each step, and why runs ended. */
function Results({ sequence }: { sequence: Sequence }) {
  const texts = t.sequences
  const query = useSequenceCounts(useWorkspaceId(), sequence.id)
  return (
    <QueryBoundary query={query}>
      {({ started, active, steps, ended }) => {
        if (started === 0) return <EmptyState title={texts.noRuns} help={texts.noRunsHelp} />
        const rows = steps.map((counts, n) => ({ ...counts, n: n + 1, kind: kindOf(sequence, n) }))
        return (
          <SectionTitle value="h2">
            <Section title={texts.byStep} help={texts.startedHelp({ started, active })}>
              <Table label={texts.byStep} columns={columns()} rows={rows} keyOf={({ n }) => String(n)} />
            </Section>
            {ended.length > 0 && (
              <Section title={texts.ends}>
                <Table
                  label={texts.ends}
                  rows={ended}
                  keyOf={({ reason }) => reason}
                  columns={[
                    { key: 'reason', title: texts.reason, cell: ({ reason }) => texts.reasons[reason] },
                    { key: 'count', title: texts.leads, cell: ({ count }) => formatNumber(count), numeric: true },
                  ]}
                />
              </Section>
            )}
          </SectionTitle>
        )
      }}
    </QueryBoundary>
  )
}

/** The template of a step, or its text. */
const kindOf = ({ steps }: Sequence, n: number): string =>
  steps[n]?.template?.name.replaceAll('_', ' ') ?? steps[n]?.text ?? ''

type Row = { n: number; kind: string } & Record<'reached' | 'sent' | 'failed' | 'skipped' | 'answered', number>

const columns = (): Column<Row>[] => [
  {
    key: 'step',
    title: t.sequences.step,
    cell: ({ n, kind }) => `${n}. ${kind.length > 60 ? `${kind.slice(0, 60)}…` : kind}`,
    long: true,
  },
  ...(['reached', 'sent', 'answered', 'skipped', 'failed'] as const).map((key) => ({
    key,
    title: t.sequences.counts[key],
    cell: (row: Row) => formatNumber(row[key]),
    numeric: true,
    optional: key === 'reached' || key === 'failed',
  })),
]

const states = ['all', 'active', 'ended'] as const

/** The leads of a sequence, newest first, and what became of each step. */
function RunLog({ sequence }: { sequence: Sequence }) {
  const workspaceId = useWorkspaceId()
  const texts = t.sequences
  const [state, setState] = useState<(typeof states)[number]>('all')
  const query = useSequenceRuns(workspaceId, sequence.id, state === 'all' ? null : state)
  const { stop } = useSequenceActions(workspaceId)
  return (
    <>
      <Segments
        label={texts.show}
        data={states.map((value) => ({ value, label: texts.states[value] }))}
        value={state}
        onChange={setState}
      />
      <QueryBoundary query={query}>
        {({ pages }) => {
          const runs = pages.flatMap((page) => page.runs)
          if (runs.length === 0) return <EmptyState title={texts.noRuns} />
          return (
            <ul className={styles.runs} aria-label={texts.leads}>
              {runs.map((run) => (
                <li key={run.id} className={styles.run}>
                  <Link to="/w/$workspaceId/leads/$leadId" params={{ workspaceId, leadId: run.lead.id }}>
                    {run.lead.name ?? texts.leadGone}
                  </Link>
                  <span>{runText(run)}</span>
                  <span className={styles.help}>{stepsText(run)}</span>
                  <span className={styles.help}>
                    {texts.entries[run.entry]} · {formatDateTime(run.createdAt)}
                  </span>
                  {run.state === 'active' && (
                    <Button
                      variant="default"
                      size="compact-sm"
                      aria-label={texts.stopOf({ name: run.lead.name ?? '' })}
                      onClick={() => void stop(run.id).catch(showError)}
                    >
                      {texts.stop}
                    </Button>
                  )}
                </li>
              ))}
            </ul>
          )
        }}
      </QueryBoundary>
      {query.hasNextPage && (
        <Button variant="default" mt={12} loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          {t.settings.automation.older}
        </Button>
      )}
    </>
  )
}

/** Such as `1 sent, 2 skipped: the 24-hour window is closed`. */
const stepsText = ({ done }: SequenceRun): string =>
  done
    .map(({ step, state, code }) => {
      const words = `${step + 1} ${t.sequences.outcomes[state]}`
      return code === null ? words : `${words}: ${codeText(code)}`
    })
    .join(', ')
