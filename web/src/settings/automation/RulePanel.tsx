import { Button, Checkbox, Select, Tabs, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import {
  changeRule,
  createRule,
  type DryRun,
  deleteRule,
  type LoggedRun,
  type Rule,
  type RuleDraft,
  rulesKey,
  tryRule,
  useRuns,
} from '../../data/team/automation.ts'
import { Duration } from '../../shared/Duration.tsx'
import { t } from '../../text/index.ts'
import { checkField, textField, useSave } from '../../ui/draft-fields.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { type Draft, useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { EditPanel } from '../draft/EditPanel.tsx'
import { ActionFields } from './ActionFields.tsx'
import styles from './Automation.module.css'
import { ConditionFields } from './ConditionFields.tsx'
import { draftOf, fieldsFor, isWait, kindsFor, type Trigger, triggers } from './rule-draft.ts'
import { useChoices } from './use-choices.ts'

interface RulePanelProps {
  /** A saved rule, or the draft of a new one. */
  rule: Rule | RuleDraft
  close(): void
}

const isSaved = (rule: Rule | RuleDraft): rule is Rule => 'id' in rule

export function RulePanel({ rule, close }: RulePanelProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.automation
  const queries = useQueryClient()
  const saved = isSaved(rule) ? rule : null
  const draft = useDraft<RuleDraft>(saved === null ? rule : draftOf(saved))
  const done = async () => {
    await queries.invalidateQueries({ queryKey: rulesKey(workspaceId) })
    close()
  }
  const send = async () => {
    if (saved === null) await createRule(workspaceId, draft.value)
    else await changeRule(workspaceId, saved.id, draft.value)
  }
  const save = useSave(draft, send, done)
  return (
    <EditPanel
      title={saved === null ? texts.create : texts.change({ name: saved.name })}
      close={close}
      size={640}
      save={save}
      remove={
        saved !== null && {
          title: texts.deleteConfirm({ name: saved.name }),
          help: texts.deleteHelp,
          run: () => deleteRule(workspaceId, saved.id).then(done, showError),
        }
      }
    >
      <Tabs defaultValue="rule" keepMounted={false}>
        <Tabs.List mb={12}>
          <Tabs.Tab value="rule">{texts.rule}</Tabs.Tab>
          <Tabs.Tab value="dryRun">{texts.dryRun}</Tabs.Tab>
          {saved !== null && <Tabs.Tab value="log">{texts.log}</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="rule">
          <RuleFields draft={draft} isNew={saved === null} />
        </Tabs.Panel>
        <Tabs.Panel value="dryRun">
          <DryRunResults draft={draft.value} onError={(error) => draft.applyError(error) || showError(error)} />
        </Tabs.Panel>
        {saved !== null && (
          <Tabs.Panel value="log">
            <RuleLog rule={saved} />
          </Tabs.Panel>
        )}
      </Tabs>
    </EditPanel>
  )
}

const defaultMinutes = 60

function RuleFields({ draft, isNew }: { draft: Draft<RuleDraft>; isNew: boolean }) {
  const { value, set, errorOf } = draft
  const texts = t.settings.automation
  const choices = useChoices()
  const setTrigger = (trigger: Trigger) => {
    const [fields, kinds] = [fieldsFor(trigger), kindsFor(trigger)]
    set({
      trigger,
      afterMinutes: isWait(trigger) ? (value.afterMinutes ?? defaultMinutes) : null,
      conditions: value.conditions.filter(({ field }) => fields.includes(field)),
      actions: value.actions.filter(({ kind }) => kinds.includes(kind)),
    })
  }
  return (
    <>
      <TextInput
        label={texts.name}
        {...textField(draft, 'name')}
        maxLength={100}
        {...(isNew && { 'data-autofocus': true })}
        mb={16}
      />
      <Select
        label={texts.trigger}
        data={triggers.map((trigger) => ({ value: trigger, label: texts.triggers[trigger] }))}
        value={value.trigger}
        allowDeselect={false}
        onChange={(trigger) => trigger !== null && setTrigger(trigger as Trigger)}
        error={errorOf('trigger')}
        mb={8}
      />
      {isWait(value.trigger) && (
        <Duration
          key={value.trigger}
          label={texts.after}
          minutes={value.afterMinutes ?? defaultMinutes}
          set={(afterMinutes) => set({ afterMinutes })}
        />
      )}
      <div style={{ height: 16 }} />
      <ConditionFields
        trigger={value.trigger}
        conditions={value.conditions}
        set={(conditions) => set({ conditions })}
        choices={choices}
        error={errorOf('conditions')}
      />
      <div style={{ height: 16 }} />
      <ActionFields
        trigger={value.trigger}
        actions={value.actions}
        set={(actions) => set({ actions })}
        choices={choices}
        error={errorOf('actions')}
      />
      <Checkbox mt={20} label={texts.stops} {...checkField(draft, 'stops')} />
      <Checkbox
        mt={8}
        label={texts.followsRules}
        description={texts.followsRulesHelp}
        {...checkField(draft, 'followsRules')}
      />
    </>
  )
}

/** The customer that an event was about, with a link. */
function About({ conversationId, leadId, name }: Pick<LoggedRun, 'conversationId' | 'leadId' | 'name'>) {
  const workspaceId = useWorkspaceId()
  const label = name ?? t.inbox.noName
  if (conversationId !== null) {
    return (
      <Link to="/w/$workspaceId/inbox/{-$conversationId}" params={{ workspaceId, conversationId }}>
        {label}
      </Link>
    )
  }
  if (leadId === null) return <span>{label}</span>
  return (
    <Link to="/w/$workspaceId/leads/$leadId" params={{ workspaceId, leadId }}>
      {label}
    </Link>
  )
}

/** What the rule would do about the newest events. */
function DryRunResults({ draft, onError }: { draft: RuleDraft; onError(error: Error): void }) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.automation
  const dryRun = useMutation({ mutationFn: () => tryRule(workspaceId, draft), onError })
  const acting = dryRun.data?.filter(({ acts }) => acts).length ?? 0
  return (
    <>
      <p className={styles.help}>{texts.dryRunHelp}</p>
      <Button variant="default" my={12} loading={dryRun.isPending} onClick={() => dryRun.mutate()}>
        {texts.tryIt}
      </Button>
      {dryRun.data?.length === 0 && <EmptyState title={texts.noEvents} />}
      {dryRun.data !== undefined && dryRun.data.length > 0 && (
        <>
          <p role="status">{texts.dryRunSum({ count: acting, of: dryRun.data.length })}</p>
          <ul className={styles.events} aria-label={texts.dryRun}>
            {dryRun.data.map((event) => (
              <li key={`${event.conversationId} ${event.leadId} ${event.at}`}>
                <time dateTime={event.at}>{formatDateTime(event.at)}</time>
                <About {...event} />
                <strong data-state={event.acts ? 'done' : undefined}>{dryRunText(event, draft)}</strong>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

function dryRunText({ acts, unmet, isOfRule }: DryRun['events'][number], { actions, conditions }: RuleDraft): string {
  const texts = t.settings.automation
  if (acts) return texts.wouldDo({ actions: actions.map(({ kind }) => texts.kinds[kind]).join(', ') })
  if (unmet.length === 0 && isOfRule) return texts.reasons.of_rule
  return unmet.map((place) => conditionText(conditions, place)).join(' · ')
}

function conditionText(conditions: Rule['conditions'], place: number): string {
  const texts = t.settings.automation
  const field = conditions[place]?.field
  return texts.unmet({ n: place + 1, name: field === undefined ? '' : texts.fields[field] })
}

/** What a rule did, and some of the events that it left alone. */
function RuleLog({ rule }: { rule: Rule }) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.automation
  const query = useRuns(workspaceId, rule.id)
  return (
    <QueryBoundary query={query}>
      {({ pages }) => {
        const runs = pages.flatMap((page) => page.runs)
        if (runs.length === 0) return <EmptyState title={texts.noRuns} />
        return (
          <>
            <ul className={styles.events} aria-label={texts.log}>
              {runs.map((run) => (
                <li key={run.id}>
                  <time dateTime={run.createdAt}>{formatDateTime(run.createdAt)}</time>
                  <About {...run} />
                  <strong data-state={run.state}>{runText(run, rule)}</strong>
                </li>
              ))}
            </ul>
            {query.hasNextPage && (
              <Button variant="default" mt={12} onClick={() => void query.fetchNextPage()}>
                {texts.older}
              </Button>
            )}
          </>
        )
      }}
    </QueryBoundary>
  )
}

function runText({ state, code, condition, dueAt, step }: LoggedRun, { conditions }: Rule): string {
  const texts = t.settings.automation
  if (state === 'done') return texts.states.done
  if (state === 'pending') {
    const continues = dueAt === null ? texts.states.pending : texts.continues({ at: formatDateTime(dueAt) })
    return code === null ? continues : `${texts.failed({ n: step + 1, why: reasonText(code) })} · ${continues}`
  }
  if (condition !== null) return conditionText(conditions, condition)
  const why = reasonText(code ?? '')
  return state === 'failed' ? texts.failed({ n: step + 1, why }) : why
}

function reasonText(code: string): string {
  const texts = t.settings.automation
  const reasons: Record<string, string> = texts.reasons
  if (code.startsWith('ANSWER_')) return texts.answered({ status: code.slice('ANSWER_'.length) })
  if (code.startsWith('REQUEST_')) {
    return texts.notReached({ why: code.slice('REQUEST_'.length).toLowerCase().replaceAll('_', ' ') })
  }
  return reasons[code] ?? code
}
