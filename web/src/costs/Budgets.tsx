import { Button, Select, TextInput, UnstyledButton } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
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
  useBudgets,
} from '../data/team/budgets.ts'
import { budgetUse } from '../shared/budget-amount.ts'
import { language, t } from '../text/index.ts'
import { textField } from '../ui/draft-fields.ts'
import { parseNumber } from '../ui/format/amount.ts'
import { formatDateTime, formatNumber } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError } from '../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { type Draft, useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Budgets.module.css'

/** Limits of what messages may cost, with what is used. */
export function Budgets() {
  const texts = t.costs.budgets
  const workspaceId = useWorkspaceId()
  const query = useBudgets(workspaceId)
  const nameOf = useBudgetName()
  const [open, setOpen] = useState<Budget | 'new' | null>(null)
  return (
    <section className={styles.section} aria-label={texts.title}>
      <div className={styles.head}>
        <h2 className={styles.title}>{texts.title}</h2>
        <Button variant="default" size="xs" leftSection={<IconPlus size={14} />} onClick={() => setOpen('new')}>
          {texts.create}
        </Button>
      </div>
      <QueryBoundary query={query} rows={2}>
        {(budgets) =>
          budgets.length === 0 ? (
            <p className={styles.muted}>{texts.empty}</p>
          ) : (
            <ul className={styles.list}>
              {budgets.map((budget) => (
                <BudgetRow key={budget.id} budget={budget} name={nameOf(budget)} edit={() => setOpen(budget)} />
              ))}
            </ul>
          )
        }
      </QueryBoundary>
      {open !== null && (
        <BudgetPanel
          budget={open === 'new' ? null : open}
          name={open === 'new' ? '' : nameOf(open)}
          close={() => setOpen(null)}
        />
      )}
    </section>
  )
}

const warnedRatio = 0.8

function BudgetRow({ budget, name, edit }: { budget: Budget; name: string; edit(): void }) {
  const texts = t.costs.budgets
  const { used, limit, period, resetsAt } = budget
  const ratio = Number(used) / Number(limit)
  const state = ratio >= 1 ? 'reached' : ratio >= warnedRatio ? 'warned' : 'ok'
  const percent = formatNumber(ratio, { style: 'percent', maximumFractionDigits: 0 })
  return (
    <li className={styles.budget}>
      <div className={styles.line}>
        <UnstyledButton className={styles.name} onClick={edit} aria-label={texts.change({ name })}>
          {name}
        </UnstyledButton>
        <span className={styles.amount}>{texts.used(budgetUse(budget))}</span>
      </div>
      <div className={styles.track} aria-hidden="true">
        <div className={styles.bar} data-state={state} style={{ width: `${Math.min(100, ratio * 100)}%` }} />
      </div>
      <div className={styles.line}>
        <span className={styles.muted}>{texts.resets({ period, when: formatDateTime(resetsAt) })}</span>
        <span className={styles.state} data-state={state}>
          {state === 'ok' ? percent : texts.states[state]({ percent })}
        </span>
      </div>
    </li>
  )
}

type Scoped = readonly { id: string; name: string }[] | undefined

/** Returns the connections or keys that budgets may limit; undefined while they load. */
function useScoped(): (scope: Budget['scope']) => Scoped {
  const workspaceId = useWorkspaceId()
  const { data: connections } = useConnections(workspaceId)
  const { data: keys } = useApiKeys(workspaceId)
  return (scope) => (scope === 'connection' ? connections : keys)
}

/** Returns the names of what budgets limit. */
function useBudgetName(): (budget: Budget) => string {
  const scoped = useScoped()
  return ({ scope, scopeId }) => {
    if (scope === 'workspace') return t.costs.budgets.scopes.workspace
    const some = scoped(scope)
    return some === undefined ? '' : (some.find(({ id }) => id === scopeId)?.name ?? t.common.unknown)
  }
}

interface BudgetPanelProps {
  /** Null for a new budget. */
  budget: Budget | null
  name: string
  close(): void
}

const emptyBudget: NewBudget = { scope: 'workspace', scopeId: null, unit: 'messages', period: 'month', limit: '' }

/** Creates a budget, or changes its limit. */
function BudgetPanel({ budget, name, close }: BudgetPanelProps) {
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
        maxLength={40}
        {...textField(draft, 'limit')}
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

const scopes = ['workspace', 'connection', 'key'] as const
const units = ['messages', 'money'] as const
const periods = ['day', 'month'] as const

/** What a new budget limits. */
function KindFields({ value, set, errorOf }: Pick<Draft<NewBudget>, 'value' | 'set' | 'errorOf'>) {
  const texts = t.costs.budgets
  const some = useScoped()(value.scope) ?? []
  return (
    <>
      <Select
        label={texts.scope}
        data={scopes.map((scope) => ({ value: scope, label: texts.scopes[scope] }))}
        value={value.scope}
        allowDeselect={false}
        error={errorOf('scope')}
        onChange={(scope) => scope !== null && set({ scope, scopeId: null })}
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
        onChange={(period) => period !== null && set({ period })}
      />
      <Select
        label={texts.unit}
        description={texts.unitHelp}
        data={units.map((unit) => ({ value: unit, label: texts.units[unit] }))}
        value={value.unit}
        allowDeselect={false}
        error={errorOf('unit')}
        onChange={(unit) => unit !== null && set({ unit })}
      />
    </>
  )
}

/** The limit as it is typed in the reader's language. */
const inputText = (limit: string): string =>
  new Intl.NumberFormat(language, { useGrouping: false, maximumFractionDigits: 8 }).format(Number(limit))
