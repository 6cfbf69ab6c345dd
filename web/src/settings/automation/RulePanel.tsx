import { Button, Checkbox, Select, Tabs, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changeRule, createRule, deleteRule, type Rule, type RuleDraft, rulesKey } from '../../data/team/automation.ts'
import { Duration } from '../../shared/Duration.tsx'
import { t } from '../../text/index.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { type Draft, useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
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
  const [isConfirming, setConfirming] = useState(false)
  const saved = isSaved(rule) ? rule : null
  const draft = useDraft<RuleDraft>(saved === null ? rule : draftOf(saved))
  const done = async () => {
    await queries.invalidateQueries({ queryKey: rulesKey(workspaceId) })
    close()
  }
  const save = useMutation({
    mutationFn: async () => {
      if (saved === null) await createRule(workspaceId, draft.value)
      else await changeRule(workspaceId, saved.id, draft.value)
    },
    onSuccess: done,
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={saved === null ? texts.create : texts.change({ name: saved.name })}
      close={close}
      size={640}
      submit={() => save.mutate()}
      footer={
        <>
          {saved !== null && (
            <Button variant="default" c="var(--bad)" mr="auto" onClick={() => setConfirming(true)}>
              {t.common.delete}
            </Button>
          )}
          <PanelButtons close={close} action={t.common.save} isBusy={save.isPending} />
        </>
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
      {isConfirming && saved !== null && (
        <Confirm
          title={texts.deleteConfirm({ name: saved.name })}
          action={t.common.delete}
          run={() => deleteRule(workspaceId, saved.id).then(done, showError)}
          close={() => setConfirming(false)}
        >
          {texts.deleteHelp}
        </Confirm>
      )}
    </SidePanel>
  )
}

const defaultMinutes = 60

function RuleFields({ draft: { value, set, errorOf }, isNew }: { draft: Draft<RuleDraft>; isNew: boolean }) {
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
        value={value.name}
        maxLength={100}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={errorOf('name')}
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
      <Checkbox
        mt={20}
        label={texts.stops}
        checked={value.stops}
        onChange={(event) => set({ stops: event.currentTarget.checked })}
      />
      <Checkbox
        mt={8}
        label={texts.followsRules}
        description={texts.followsRulesHelp}
        checked={value.followsRules}
        onChange={(event) => set({ followsRules: event.currentTarget.checked })}
      />
    </>
  )
}
