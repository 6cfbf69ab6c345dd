import { Button, Select, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useConnections } from '../data/connections.ts'
import { useApiKeys } from '../data/keys.ts'
import {
  type Budget,
  budgetsKey,
  changeBudget,
  createBudget,
  deleteBudget,
  type NewBudget,
} from '../data/team/budgets.ts'
import { language, t } from '../text/index.ts'
import { parseNumber } from '../ui/format/amount.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError } from '../ui/overlay/toasts.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

interface BudgetPanelProps {
  /** Null for a new budget. */
  budget: Budget | null
  name: string
  close(): void
}

const emptyBudget: NewBudget = { scope: 'workspace', scopeId: null, unit: 'messages', period: 'month', limit: '' }

/** Creates a budget, or changes its limit. */
export function BudgetPanel({ budget, name, close }: BudgetPanelProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.costs.budgets
  const queries = useQueryClient()
  const [isConfirming, setConfirming] = useState(false)
  const draft = useDraft<NewBudget>(budget === null ? emptyBudget : { ...budget, limit: inputText(budget.limit) })
  const { value, set, errorOf } = draft
  const done = async () => {
    await queries.invalidateQueries({ queryKey: budgetsKey(workspaceId) })
    close()
  }
  const save = useMutation({
    mutationFn: async () => {
      const limit = parseNumber(value.limit) ?? value.limit.trim()
      if (budget === null) await createBudget(workspaceId, { ...value, limit })
      else await changeBudget(workspaceId, budget.id, limit)
    },
    onSuccess: done,
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={budget === null ? texts.create : texts.change({ name })}
      close={close}
      submit={() => save.mutate()}
      footer={
        <>
          {budget !== null && (
            <Button variant="default" c="var(--bad)" mr="auto" onClick={() => setConfirming(true)}>
              {t.common.delete}
            </Button>
          )}
          <PanelButtons close={close} action={t.common.save} isBusy={save.isPending} />
        </>
      }
    >
      {budget === null && <KindFields value={value} set={set} errorOf={errorOf} />}
      <TextInput
        label={texts.limit[value.unit]}
        description={budget?.currency ?? undefined}
        inputMode="decimal"
        value={value.limit}
        maxLength={40}
        onChange={(event) => set({ limit: event.currentTarget.value })}
        error={errorOf('limit')}
        data-autofocus
      />
      {isConfirming && budget !== null && (
        <Confirm
          title={texts.deleteConfirm({ name })}
          action={t.common.delete}
          run={() => deleteBudget(workspaceId, budget.id).then(done, showError)}
          close={() => setConfirming(false)}
        >
          {texts.deleteHelp}
        </Confirm>
      )}
    </SidePanel>
  )
}

interface KindFieldsProps {
  value: NewBudget
  set(changes: Partial<NewBudget>): void
  errorOf(field: string): string | undefined
}

const scopes = ['workspace', 'connection', 'key'] as const
const units = ['messages', 'money'] as const
const periods = ['day', 'month'] as const

/** What a new budget limits. */
function KindFields({ value, set, errorOf }: KindFieldsProps) {
  const texts = t.costs.budgets
  const workspaceId = useWorkspaceId()
  const { data: connections = [] } = useConnections(workspaceId)
  const { data: keys = [] } = useApiKeys(workspaceId)
  const some: readonly { id: string; name: string }[] = value.scope === 'connection' ? connections : keys
  return (
    <>
      <Select
        label={texts.scope}
        data={scopes.map((scope) => ({ value: scope, label: texts.scopes[scope] }))}
        value={value.scope}
        allowDeselect={false}
        error={errorOf('scope')}
        onChange={(scope) => scope !== null && set({ scope: scope as NewBudget['scope'], scopeId: null })}
      />
      {value.scope !== 'workspace' && (
        <Select
          label={texts.scopes[value.scope]}
          data={some.map(({ id, name }) => ({ value: id, label: name }))}
          value={value.scopeId}
          searchable
          error={errorOf('scopeId')}
          onChange={(scopeId) => set({ scopeId })}
        />
      )}
      <Select
        label={texts.period}
        data={periods.map((period) => ({ value: period, label: texts.periods[period] }))}
        value={value.period}
        allowDeselect={false}
        onChange={(period) => period !== null && set({ period: period as NewBudget['period'] })}
      />
      <Select
        label={texts.unit}
        description={texts.unitHelp}
        data={units.map((unit) => ({ value: unit, label: texts.units[unit] }))}
        value={value.unit}
        allowDeselect={false}
        error={errorOf('unit')}
        onChange={(unit) => unit !== null && set({ unit: unit as NewBudget['unit'] })}
      />
    </>
  )
}

/** The limit as it is typed in the reader's language. */
const inputText = (limit: string): string =>
  new Intl.NumberFormat(language, { useGrouping: false, maximumFractionDigits: 8 }).format(Number(limit))
