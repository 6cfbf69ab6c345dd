import { Button, Checkbox, NativeSelect, Radio, Stack, TextInput } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useLabelsById } from '../../data/labels.ts'
import {
  type Condition,
  countOf,
  isDay,
  kindOf,
  type Operator,
  operatorsOf,
} from '../../shared/lead-view/conditions.ts'
import { t } from '../../text/index.ts'
import { parseNumber } from '../../ui/format/amount.ts'
import { inputValue, interpretTyped } from '../../ui/format/custom-value.ts'
import { LabelDot } from '../../ui/LabelDot.tsx'
import { DropdownPanel } from '../../ui/overlay/DropdownPanel.tsx'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { choicesOf, type FieldContext, type FieldName } from '../fields/columns.tsx'
import type { CustomColumnInfo } from '../fields/custom-columns.ts'
import { type EditField, yesOrNo } from '../fields/edit-field.ts'
import styles from '../LeadsPage.module.css'

interface ConditionEditorProps {
  dropdown: Dropdown
  condition: Condition
  title: string
  context: FieldContext
  /** The custom field of the column, if any. */
  custom: CustomColumnInfo | undefined
  change(condition: Condition): void
}

/** Edits the operator and values of a condition. */
export default function ConditionEditor({ dropdown, condition, title, context, custom, change }: ConditionEditorProps) {
  const { column, operator, values } = condition
  // A condition in the address may be older than the type of its field.
  const operators = [...new Set([...operatorsOf(column, custom?.type), operator])]
  const isOfDays = kindOf(column) === 'time' || custom?.type === 'date'
  const setOperator = (next: Operator) => {
    const keeps = haveSameValues(operator, next)
    change({ ...condition, operator: next, values: keeps ? values : [] })
  }
  return (
    <DropdownPanel dropdown={dropdown} label={title} position="bottom-start" isToButton>
      <Stack gap={10} maw={280}>
        <NativeSelect
          size="xs"
          label={title}
          value={operator}
          onChange={(event) => setOperator(event.currentTarget.value as Operator)}
          data={operators.map((value) => ({ value, label: operatorText(value, isOfDays) }))}
        />
        {countOf(operator) > 0 && <Values key={operator} {...{ condition, context, custom, change }} />}
      </Stack>
    </DropdownPanel>
  )
}

function operatorText(operator: Operator, isOfDays: boolean): string {
  const { operators, dayOperators } = t.filtering
  return isOfDays && (operator === 'from' || operator === 'to') ? dayOperators[operator] : operators[operator]
}

const haveSameValues = (a: Operator, b: Operator): boolean => {
  const one = (operator: Operator) => (operator === 'isNot' ? 'is' : operator === 'to' ? 'from' : operator)
  return one(a) === one(b)
}

function Values({ condition, context, custom, change }: Omit<ConditionEditorProps, 'dropdown' | 'title'>) {
  const { column, operator, values } = condition
  const set = (next: readonly string[]) => change({ ...condition, values: next })
  if (column === 'labels') return <Labels values={values} set={set} />
  const choices = choicesFor(condition, context, custom)
  if (choices !== null) return <Choices choices={choices} values={values} isOne={operator === 'contains'} set={set} />
  if (operator === 'last') return <LastDays days={values[0]} set={(days) => set([days])} />
  const entry = entryOf(condition, custom)
  const { currency } = context
  if (operator === 'between') return <Range {...{ entry, currency, values, set }} />
  const one = { entry, currency, value: values.join(', '), set: (text: string) => set([text]) }
  return <OneValue {...one} label={t.filtering.value} />
}

/** Returns the options for values of a column; null if they are typed. */
function choicesFor({ column, operator }: Condition, context: FieldContext, custom: CustomColumnInfo | undefined) {
  if (kindOf(column) === 'choice') {
    return (choicesOf(column as FieldName, context, '') ?? []).filter(({ value }) => value !== '')
  }
  if (custom?.type === 'boolean') return yesOrNo()
  const isChosen = operatorsOf(column, custom?.type).includes(operator) && (custom?.choices.length ?? 0) > 0
  return isChosen ? (custom?.choices ?? []).map((value) => ({ value, label: value })) : null
}

interface ChoicesProps {
  choices: EditField['choices']
  values: readonly string[]
  /** Whether the condition has a single value. */
  isOne: boolean
  set(values: readonly string[]): void
}

function Choices({ choices, values, isOne, set }: ChoicesProps) {
  const others = values.filter((value) => choices.every((one) => one.value !== value))
  const all = [...choices, ...others.map((value) => ({ value, label: value }))]
  return isOne ? (
    <Radio.Group aria-label={t.filtering.values} value={values[0] ?? ''} onChange={(value) => set([value])}>
      <Stack gap={8} className={styles.choices}>
        {all.map(({ value, label }) => (
          <Radio key={value} size="xs" value={value} label={label} />
        ))}
      </Stack>
    </Radio.Group>
  ) : (
    <ManyChoices choices={all} values={values} set={set} />
  )
}

interface ManyChoicesProps extends Omit<ChoicesProps, 'isOne' | 'choices'> {
  choices: readonly { value: string; label: ReactNode }[]
  children?: ReactNode
}

function ManyChoices({ choices, values, set, children }: ManyChoicesProps) {
  return (
    <Checkbox.Group aria-label={t.filtering.values} value={[...values]} onChange={set}>
      <Stack gap={8} className={styles.choices}>
        {children}
        {choices.map(({ value, label }) => (
          <Checkbox key={value} size="xs" value={value} label={label} />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}

/** `numberOrDay`: the type of the field is unknown. */
type Entry = 'text' | 'number' | 'amount' | 'day' | 'numberOrDay'

function entryOf({ column, operator }: Condition, custom: CustomColumnInfo | undefined): Entry {
  if (kindOf(column) === 'time' || custom?.type === 'date') return 'day'
  if (kindOf(column) === 'number') return 'amount'
  if (custom?.type === 'number' || custom?.type === 'amount') return custom.type
  const isCompared = operator === 'between' || operator === 'from' || operator === 'to'
  return kindOf(column) === 'custom' && isCompared ? 'numberOrDay' : 'text'
}

/** Converts an input to a value in the address; undefined if it is invalid. */
function readEntry(entry: Entry, typed: string): string | undefined {
  if (entry === 'text' || entry === 'day' || (entry === 'numberOrDay' && isDay(typed))) return typed
  return parseNumber(typed) ?? (typed.trim() === '' ? '' : undefined)
}

/** Formats a value of the address in the reader's notation. */
const formatEntry = (entry: Entry, value: string): string =>
  entry === 'text' || entry === 'day' ? value : inputValue({ type: 'number', choices: [] }, value)

const spans = ['7', '30', '90']

function LastDays({ days, set }: { days: string | undefined; set(days: string): void }) {
  return (
    <>
      <div className={styles.days}>
        {spans.map((span) => (
          <Button
            key={span}
            size="compact-xs"
            variant={span === days ? 'light' : 'default'}
            aria-pressed={span === days}
            onClick={() => set(span)}
          >
            {t.leads.filters.lastDays({ days: Number(span) })}
          </Button>
        ))}
      </div>
      <TextInput
        size="xs"
        inputMode="numeric"
        label={t.filtering.days}
        value={days ?? ''}
        maxLength={3}
        onChange={(event) => set(event.currentTarget.value.replace(/\D/g, ''))}
      />
    </>
  )
}

interface RangeProps {
  entry: Entry
  currency: string | null
  values: readonly string[]
  set(values: string[]): void
}

// Two inputs. The first one entered is kept here until both are filled.
function Range({ values, set, ...kind }: RangeProps) {
  // A ref, not state: both debounced inputs may fire before a render and must not overwrite each other.
  const ends = useRef([values[0] ?? '', values[1] ?? ''] as const)
  const write = (next: readonly [string, string]) => {
    ends.current = next
    set([...next])
  }
  const { from, to } = t.filtering.ends
  return (
    <>
      <OneValue {...kind} label={from} value={values[0] ?? ''} set={(text) => write([text, ends.current[1]])} />
      <OneValue {...kind} label={to} value={values[1] ?? ''} set={(text) => write([ends.current[0], text])} />
    </>
  )
}

interface OneValueProps {
  entry: Entry
  currency: string | null
  label: string
  value: string
  set(text: string): void
}

const debounceMs = 250

/** Value input, debounced. */
function OneValue({ entry, currency, label, value, set }: OneValueProps) {
  const [text, setText] = useState(() => formatEntry(entry, value))
  const [timer, setTimer] = useState<ReturnType<typeof setTimeout>>()
  const isOfNumbers = entry !== 'text' && entry !== 'day'
  const isWrong = readEntry(entry, text) === undefined
  const type = entry === 'amount' ? 'amount' : isOfNumbers ? 'number' : 'text'
  // The other end of the range may change before the debounce ends.
  const latest = useRef(set)
  useEffect(() => {
    latest.current = set
  })
  // An invalid value is empty: the condition is incomplete until it is valid.
  const send = (typed: string) => latest.current(readEntry(entry, typed) ?? '')
  return (
    <TextInput
      size="xs"
      type={entry === 'day' ? 'date' : 'text'}
      {...(isOfNumbers && { inputMode: 'decimal' as const })}
      label={label}
      value={text}
      error={isWrong && t.fields.notANumber}
      description={interpretTyped({ type }, text, currency)}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      maxLength={255}
      onChange={({ currentTarget }) => {
        const typed = currentTarget.value
        setText(typed)
        clearTimeout(timer)
        setTimer(setTimeout(() => send(typed), debounceMs))
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return
        clearTimeout(timer)
        send(text)
      }}
      data-autofocus
    />
  )
}

const maxLabels = 20

function Labels({ values, set }: Pick<ChoicesProps, 'values' | 'set'>) {
  const labels = [...useLabelsById(useWorkspaceId()).values()]
  const choices = labels.map(({ id, name, color }) => ({
    value: id,
    label: (
      <>
        <LabelDot color={color} /> {name}
      </>
    ),
  }))
  return (
    <ManyChoices choices={choices} values={values} set={(next) => next.length <= maxLabels && set(next)}>
      {labels.length === 0 && t.triage.pick.noLabels}
    </ManyChoices>
  )
}
