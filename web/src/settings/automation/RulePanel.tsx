import { Checkbox, Select, Tabs, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { changeRule, createRule, deleteRule, type Rule, type RuleDraft, rulesKey } from '../../data/team/automation.ts'
import { Duration } from '../../shared/Duration.tsx'
import { t } from '../../text/index.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { type Draft, useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { checkField, textField, useSave } from '../draft/draft-fields.ts'
import { EditPanel } from '../draft/EditPanel.tsx'
import { ActionFields } from './ActionFields.tsx'
import { ConditionFields } from './ConditionFields.tsx'
import { DryRunResults, RuleLog } from './RuleLog.tsx'
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
  return (
    <EditPanel
      title={saved === null ? texts.create : texts.change({ name: saved.name })}
      close={close}
      size={640}
      save={useSave(draft, send, done)}
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
