import { Button, Switch, TextInput, VisuallyHidden } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  changeRule,
  deleteMacro,
  type Macro,
  type MacroDraft,
  macrosKey,
  orderRules,
  type Rule,
  type RuleDraft,
  rulesKey,
  saveMacro,
  useMacros,
  useRules,
} from '../../data/team/automation.ts'
import { hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { textField, useSave } from '../../ui/draft-fields.ts'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { Table } from '../../ui/page/Table.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useListChange } from '../../ui/use-list-change.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { EditPanel } from '../draft/EditPanel.tsx'
import { AddButton } from '../parts/ItemList.tsx'
import { MoveButtons } from '../parts/RowButton.tsx'
import { useRemoval } from '../parts/use-removal.ts'
import { ActionFields } from './ActionFields.tsx'
import styles from './Automation.module.css'
import { RulePanel } from './RulePanel.tsx'
import { emptyRule, exampleRules, newAction } from './rule-draft.ts'
import { useChoices } from './use-choices.ts'

export function AutomationSection() {
  const isAdmin = hasRole(useWorkspaceId(), 'admin')
  return (
    <div className={styles.sections}>
      {isAdmin && <RulesSection />}
      <MacrosSection isAdmin={isAdmin} />
    </div>
  )
}

function RulesSection() {
  const texts = t.settings.automation
  const query = useRules(useWorkspaceId())
  const [open, setOpen] = useState<Rule | RuleDraft | null>(null)
  return (
    <>
      <Section
        title={texts.rules}
        help={texts.rulesHelp}
        action={<AddButton label={texts.create} run={() => setOpen(emptyRule)} />}
      >
        <QueryBoundary query={query}>
          {(rules) =>
            rules.length === 0 ? (
              <>
                <EmptyState title={texts.empty} help={texts.emptyHelp} />
                <div className={styles.examples}>
                  {exampleRules().map((example) => (
                    <Button key={example.name} variant="default" onClick={() => setOpen(example)}>
                      {example.name}
                    </Button>
                  ))}
                </div>
              </>
            ) : (
              <RuleList rules={rules} open={setOpen} />
            )
          }
        </QueryBoundary>
      </Section>
      {open !== null && <RulePanel rule={open} close={() => setOpen(null)} />}
    </>
  )
}

/** Rules in order: moved with buttons, or with Alt and an arrow key. */
function RuleList({ rules, open }: { rules: readonly Rule[]; open(rule: Rule): void }) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.automation
  const change = useListChange<Rule>(rulesKey(workspaceId))
  const [announced, setAnnounced] = useState('')
  const move = (from: number, by: number) => {
    const [rule, to] = [rules[from], from + by]
    if (rule === undefined || rules[to] === undefined) return
    const next = rules.toSpliced(from, 1).toSpliced(to, 0, rule)
    const ids = next.map(({ id }) => id)
    void change(
      () => next,
      () => orderRules(workspaceId, ids),
    )
    setAnnounced(texts.moved({ name: rule.name, place: to + 1 }))
  }
  const setEnabled = (rule: Rule, enabled: boolean) =>
    void change(
      (list) => list.map((one) => (one.id === rule.id ? { ...one, enabled } : one)),
      () => changeRule(workspaceId, rule.id, { enabled }),
    )
  return (
    <>
      <ol className={styles.rules} aria-label={texts.rules}>
        {rules.map((rule, n) => (
          <li key={rule.id} className={styles.rule}>
            <Switch
              aria-label={texts.isOn({ name: rule.name })}
              checked={rule.enabled}
              onChange={(event) => setEnabled(rule, event.currentTarget.checked)}
            />
            <button
              type="button"
              className={styles.open}
              onClick={() => open(rule)}
              onKeyDown={(event) => {
                if (!event.altKey || !['ArrowUp', 'ArrowDown'].includes(event.key)) return
                event.preventDefault()
                move(n, event.key === 'ArrowUp' ? -1 : 1)
              }}
            >
              <strong>{rule.name}</strong>
              <span>{texts.triggers[rule.trigger]}</span>
              {rule.problems.length > 0 && <span className={styles.problem}>{texts.broken}</span>}
            </button>
            <MoveButtons
              up={texts.up({ name: rule.name })}
              down={texts.down({ name: rule.name })}
              at={n}
              last={rules.length - 1}
              move={(by) => move(n, by)}
            />
          </li>
        ))}
      </ol>
      <VisuallyHidden role="status">{announced}</VisuallyHidden>
    </>
  )
}

function MacrosSection({ isAdmin }: { isAdmin: boolean }) {
  const texts = t.settings.automation
  const query = useMacros(useWorkspaceId())
  const [open, setOpen] = useState<Macro | 'new' | null>(null)
  return (
    <>
      <Section
        title={texts.macros}
        help={texts.macrosHelp}
        action={isAdmin && <AddButton label={texts.createMacro} run={() => setOpen('new')} />}
      >
        <QueryBoundary query={query}>
          {(macros) =>
            macros.length === 0 ? (
              <EmptyState title={texts.noMacros} />
            ) : (
              <Table
                label={texts.macros}
                rows={macros}
                keyOf={({ id }) => id}
                {...(isAdmin && { open: setOpen })}
                columns={[
                  { key: 'name', title: texts.name, cell: ({ name }) => name },
                  {
                    key: 'actions',
                    title: texts.actions,
                    cell: ({ actions }) => actions.map(({ kind }) => texts.kinds[kind]).join(', '),
                  },
                ]}
              />
            )
          }
        </QueryBoundary>
      </Section>
      {open !== null && <MacroPanel macro={open === 'new' ? null : open} close={() => setOpen(null)} />}
    </>
  )
}

interface MacroPanelProps {
  /** Null for a new macro. */
  macro: Macro | null
  close(): void
}

function MacroPanel({ macro, close }: MacroPanelProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.automation
  const queries = useQueryClient()
  const queryKey = macrosKey(workspaceId)
  const choices = useChoices()
  const draft = useDraft<MacroDraft>({ name: macro?.name ?? '', actions: macro?.actions ?? [newAction('reply')] })
  const { value, set, errorOf } = draft
  const send = () => saveMacro(workspaceId, macro?.id ?? null, value)
  const save = useSave(draft, send, async () => {
    await queries.invalidateQueries({ queryKey })
    close()
  })
  const remove = useRemoval<Macro>(queryKey, {
    remove: ({ id }) => deleteMacro(workspaceId, id),
    restore: ({ name, actions }) => saveMacro(workspaceId, null, { name, actions }),
    done: ({ name }) => texts.macroDeleted({ name }),
  })
  return (
    <EditPanel
      title={macro === null ? texts.createMacro : texts.changeMacro({ name: macro.name })}
      close={close}
      size={640}
      save={save}
      remove={macro !== null && (() => void remove(macro))}
    >
      <TextInput label={texts.name} {...textField(draft, 'name')} maxLength={100} data-autofocus />
      <ActionFields
        trigger={null}
        actions={value.actions}
        set={(actions) => set({ actions })}
        choices={choices}
        error={errorOf('actions')}
      />
    </EditPanel>
  )
}
