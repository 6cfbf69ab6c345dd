import { Button } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconFilter, IconX } from '@tabler/icons-react'
import { type ComponentProps, useEffect, useMemo, useRef, useState } from 'react'
import { useLabelsById } from '../../data/labels.ts'
import { DropdownButton } from '../../shared/DropdownButton.tsx'
import { conditionsOf, type LeadAddress, sortOf, withConditions } from '../../shared/lead-view/address.ts'
import { type Column, type Condition, isComplete, isSame, operatorsOf } from '../../shared/lead-view/conditions.ts'
import { t, withTexts } from '../../text/index.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { SearchField } from '../../ui/page/SearchField.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { FieldContext } from '../fields/columns.tsx'
import { type CustomColumnInfo, useCustomColumns } from '../fields/custom-columns.ts'
import type { GoTo } from '../fields/use-address.ts'
import styles from '../LeadsPage.module.css'
import { describeCondition, titleOf, type ValueNames } from './sentence.ts'

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
  const customs = useCustomColumns(workspaceId)
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

type SortButtonProps = Omit<ComponentProps<typeof SortMenu>, 'dropdown'>

function SortButton(props: SortButtonProps) {
  const { column, isDescending } = sortOf(props.address)
  const title = titleOf(column, props.customs)
  const Arrow = isDescending ? IconArrowDown : IconArrowUp
  return (
    <DropdownButton
      popup="menu"
      content={(dropdown) => <SortMenu dropdown={dropdown} {...props} />}
      leftSection={<Arrow size={16} />}
      aria-label={t.filtering.sortedBy({ field: title, direction: isDescending ? 'down' : 'up' })}
    >
      {title}
    </DropdownButton>
  )
}

const ConditionEditor = prefetchedComponent(() => withTexts(() => import('./ConditionEditor.tsx')))

interface ConditionChipProps {
  condition: Condition
  isOpen: boolean
  setOpen(isOpen: boolean): void
  change(condition: Condition): void
  remove(): void
  context: FieldContext
  names: ValueNames
}

/** A condition as text that can be edited in place. */
function ConditionChip({ condition, isOpen, setOpen, change, remove, context, names }: ConditionChipProps) {
  const title = titleOf(condition.column, names.customs)
  const sentence = isComplete(condition) ? describeCondition(condition, names) : title
  const dropdown = useDropdown(isOpen, setOpen)
  return (
    <span className={styles.filter}>
      <button type="button" {...dropdownButtonProps(dropdown, 'dialog')}>
        {sentence}
      </button>
      <button type="button" aria-label={t.leads.filters.remove({ sentence })} onClick={remove}>
        <IconX size={12} />
      </button>
      <DropdownContent dropdown={dropdown}>
        <ConditionEditor
          {...{ dropdown, condition, title, context, change }}
          custom={names.customs.find(({ column }) => column === condition.column)}
        />
      </DropdownContent>
    </span>
  )
}

const debounceMs = 120

function LeadSearch({ address, goTo }: { address: LeadAddress; goTo: GoTo }) {
  const q = address.q ?? ''
  const [text, setText] = useState(q)
  const sent = useRef(q)
  useEffect(() => {
    if (q === sent.current) return
    sent.current = q
    setText(q)
  }, [q])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text
      goTo(({ q: _, ...before }) => (text.trim() === '' ? before : { ...before, q: text }), { replace: true })
    }, debounceMs)
    return () => clearTimeout(timer)
  }, [text, goTo])
  return (
    <SearchField
      id="lead-search"
      isSmall
      aria-label={t.leads.keys.search}
      placeholder={t.leads.searchHelp}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' && event.key !== 'Enter') return
        if (event.key === 'Escape') setText('')
        event.currentTarget.blur()
      }}
      end={text === '' ? null : { label: t.leads.clearSearch, run: () => setText('') }}
    />
  )
}
