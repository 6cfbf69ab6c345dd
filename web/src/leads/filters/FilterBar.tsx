import { Button } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconFilter, IconX } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { useLabelsById } from '../../data/labels.ts'
import { conditionsOf, type LeadAddress, sortOf, withConditions } from '../../shared/lead-view/address.ts'
import { type Column, type Condition, isComplete, isSame, operatorsOf } from '../../shared/lead-view/conditions.ts'
import { t, withTexts } from '../../text/index.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { FieldContext } from '../fields/columns.tsx'
import { type CustomColumnInfo, useCustomColumns } from '../fields/custom-columns.ts'
import type { GoTo } from '../fields/use-address.ts'
import styles from '../LeadsPage.module.css'
import { ConditionChip } from './ConditionChip.tsx'
import { LeadSearch } from './LeadSearch.tsx'
import { titleOf } from './sentence.ts'

const ColumnPicker = prefetchedComponent(() => withTexts(() => import('./ColumnPicker.tsx')))
const SortMenu = prefetchedComponent(() => withTexts(() => import('./SortMenu.tsx')))

interface FilterBarProps {
  address: LeadAddress
  goTo: GoTo
  context: FieldContext
  total: number | undefined
}

/** Filters, sort order and number of leads. */
export function FilterBar({ address, goTo, context, total }: FilterBarProps) {
  const workspaceId = useWorkspaceId()
  const customNames = useCustomColumns(workspaceId)
  const labels = useLabelsById(workspaceId)
  const [isAdding, setAdding] = useState(false)
  const adding = useDropdown(isAdding, setAdding)
  // The condition being edited, which may be incomplete, and the previous one.
  const [opened, setOpened] = useState<{ is: Condition; was: Condition | null } | null>(null)
  useShortcuts(
    t.leads.keys.group,
    useMemo(() => [{ keys: 'f', label: t.leads.keys.filter, run: () => setAdding(true) }], []),
  )
  const active = conditionsOf(address)
  const { shown, openAt } = withOpenedCondition(active, opened)
  const customs = customNames()
  const names = { people: context.people, customs, labels, currency: context.currency }
  const change = (was: Condition, after: Condition) => {
    setOpened({ is: after, was })
    goTo((before) => withChangedCondition(before, was, after), { replace: isComplete(was) })
  }
  const remove = (one: Condition) => {
    setOpened(null)
    goTo((before) => withChangedCondition(before, one, null))
  }
  return (
    <search className={styles.bar} aria-label={t.leads.filter}>
      <LeadSearch address={address} goTo={goTo} />
      {address.import !== undefined && <ImportChip goTo={goTo} />}
      {active.length > 1 && (
        <MatchButton
          isAny={address.match === 'any'}
          toggle={() =>
            goTo((before) => withConditions(before, conditionsOf(before), before.match === 'any' ? null : 'any'))
          }
        />
      )}
      {shown.map((condition, n) => (
        <ConditionChip
          key={`${condition.column}:${shown.slice(0, n).filter(({ column }) => column === condition.column).length}`}
          condition={condition}
          isOpen={n === openAt}
          setOpen={(isOpen) => setOpened(isOpen ? { is: condition, was: null } : null)}
          change={(after) => change(condition, after)}
          remove={() => remove(condition)}
          context={context}
          names={names}
        />
      ))}
      <Button
        {...dropdownButtonProps(adding, 'dialog')}
        variant="subtle"
        color="gray"
        size="compact-sm"
        leftSection={<IconFilter size={16} />}
      >
        {t.leads.filter}
      </Button>
      <DropdownContent dropdown={adding}>
        <ColumnPicker
          dropdown={adding}
          customs={customs}
          choose={(column) => setTimeout(() => setOpened({ is: newCondition(column, customs), was: null }))}
        />
      </DropdownContent>
      <SortButton address={address} goTo={goTo} customs={customs} />
      <span className={styles.count} role="status">
        {total === undefined ? '' : t.leads.count({ n: total })}
      </span>
    </search>
  )
}

/** Replaces or removes a condition. */
function withChangedCondition(address: LeadAddress, was: Condition, after: Condition | null): LeadAddress {
  const list = conditionsOf(address)
  const found = list.findIndex((one) => isSame(one, was))
  const at = found === -1 ? list.length : found
  const next = list.toSpliced(at, 1, ...(after !== null && isComplete(after) ? [after] : []))
  // While a condition is edited it may be temporarily absent: keep `match`.
  return withConditions(address, next, after === null && next.length < 2 ? null : undefined)
}

/** Returns the conditions of the address with the edited one in its place, also before it is in the address. */
function withOpenedCondition(active: readonly Condition[], opened: { is: Condition; was: Condition | null } | null) {
  if (opened === null) return { shown: active, openAt: -1 }
  const { is, was } = opened
  const at = active.findIndex((one) => isSame(one, is))
  if (at !== -1) return { shown: active, openAt: at }
  const before = was === null ? -1 : active.findIndex((one) => isSame(one, was))
  if (before !== -1) return { shown: active.toSpliced(before, 1, is), openAt: before }
  return { shown: [...active, is], openAt: active.length }
}

function newCondition(column: Column, customs: readonly CustomColumnInfo[]): Condition {
  const [operator = 'empty'] = operatorsOf(column, customs.find((one) => one.column === column)?.type)
  return { column, operator, values: [] }
}

function MatchButton({ isAny, toggle }: { isAny: boolean; toggle(): void }) {
  return (
    <Button variant="subtle" size="compact-sm" title={t.filtering.matchHelp} onClick={toggle}>
      {isAny ? t.filtering.any : t.filtering.all}
    </Button>
  )
}

/** An import can only be chosen by the link on its page. */
function ImportChip({ goTo }: { goTo: GoTo }) {
  const { fromImport, fromImportHelp, remove } = t.leads.filters
  return (
    <span className={styles.filter} title={fromImportHelp}>
      <span className={styles.fixed}>{fromImport}</span>
      <button
        type="button"
        aria-label={remove({ sentence: fromImport })}
        onClick={() => goTo(({ import: _, ...before }) => before)}
      >
        <IconX size={12} />
      </button>
    </span>
  )
}

interface SortButtonProps {
  address: LeadAddress
  goTo: GoTo
  customs: readonly CustomColumnInfo[]
}

function SortButton(props: SortButtonProps) {
  const { column, isDescending } = sortOf(props.address)
  const title = titleOf(column, props.customs)
  const dropdown = useDropdown(...useState(false))
  const Arrow = isDescending ? IconArrowDown : IconArrowUp
  return (
    <>
      <Button
        {...dropdownButtonProps(dropdown, 'menu')}
        variant="subtle"
        color="gray"
        size="compact-sm"
        leftSection={<Arrow size={16} />}
        aria-label={t.filtering.sortedBy({ field: title, direction: isDescending ? 'down' : 'up' })}
      >
        {title}
      </Button>
      <DropdownContent dropdown={dropdown}>
        <SortMenu dropdown={dropdown} {...props} />
      </DropdownContent>
    </>
  )
}
