import { Button, UnstyledButton } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useConnections } from '../data/connections.ts'
import { useApiKeys } from '../data/keys.ts'
import { type Budget, useBudgets } from '../data/team/budgets.ts'
import { budgetUse } from '../shared/budget-amount.ts'
import { t } from '../text/index.ts'
import { formatDateTime, formatNumber } from '../ui/format/time.ts'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { BudgetPanel } from './BudgetPanel.tsx'
import styles from './Budgets.module.css'

/** Limits of what messages may cost, with what is used. */
export function Budgets() {
  const texts = t.costs.budgets
  const workspaceId = useWorkspaceId()
  const query = useBudgets(workspaceId)
  const nameOf = useBudgetName(workspaceId)
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

interface BudgetRowProps {
  budget: Budget
  name: string
  edit(): void
}

const warnedRatio = 0.8

function BudgetRow({ budget, name, edit }: BudgetRowProps) {
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

/** Returns the names of what budgets limit. */
function useBudgetName(workspaceId: string): (budget: Budget) => string {
  const { data: connections } = useConnections(workspaceId)
  const { data: keys } = useApiKeys(workspaceId)
  const { workspace } = t.costs.budgets.scopes
  return ({ scope, scopeId }) => {
    if (scope === 'workspace') return workspace
    const some: readonly { id: string; name: string }[] | undefined = scope === 'connection' ? connections : keys
    if (some === undefined) return ''
    return some.find(({ id }) => id === scopeId)?.name ?? t.common.unknown
  }
}
