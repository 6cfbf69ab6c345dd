import { Button, Checkbox, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { t } from '../../text/index.ts'
import { choicesOf, type FieldContext, type FieldName } from '../fields/columns.tsx'
import { type Condition, countOf, kindOf, type Operator, operatorsOf } from '../fields/conditions.ts'
import styles from '../LeadsPage.module.css'

interface ConditionEditorProps {
  condition: Condition
  title: string
  context: FieldContext
  change(condition: Condition): void
}

/** How a column is asked, and for what. */
export function ConditionEditor({ condition, title, context, change }: ConditionEditorProps) {
  const { column, operator, values } = condition
  const operators = operatorsOf(column)
  const setOperator = (next: Operator) => {
    const keeps = takesSame(operator, next)
    change({ ...condition, operator: next, values: keeps ? values : [] })
  }
  return (
    <Stack gap={10} maw={280}>
      <NativeSelect
        size="xs"
        label={title}
        value={operator}
        onChange={(event) => setOperator(event.currentTarget.value as Operator)}
        data={operators.map((value) => ({ value, label: t.filtering.operators[value] }))}
      />
      {countOf(operator) > 0 && <Values key={operator} {...{ condition, context, change }} />}
    </Stack>
  )
}

const takesSame = (a: Operator, b: Operator): boolean => {
  const one = (operator: Operator) => (operator === 'isNot' ? 'is' : operator === 'to' ? 'from' : operator)
  return one(a) === one(b)
}

function Values({ condition, context, change }: Omit<ConditionEditorProps, 'title'>) {
  const { column, operator, values } = condition
  const set = (next: readonly string[]) => change({ ...condition, values: next })
  if (kindOf(column) === 'choice') {
    const choices = (choicesOf(column as FieldName, context, '') ?? []).filter(({ value }) => value !== '')
    const others = values.filter((value) => choices.every((one) => one.value !== value))
    return (
      <Checkbox.Group aria-label={t.filtering.values} value={[...values]} onChange={set}>
        <Stack gap={8} className={styles.choices}>
          {[...choices, ...others.map((value) => ({ value, label: value }))].map(({ value, label }) => (
            <Checkbox key={value} size="xs" value={value} label={label} />
          ))}
        </Stack>
      </Checkbox.Group>
    )
  }
  if (operator === 'last') return <LastDays days={values[0]} set={(days) => set([days])} />
  if (operator === 'between') return <Range condition={condition} set={set} />
  return (
    <OneValue condition={condition} label={t.filtering.value} value={values.join(', ')} set={(text) => set([text])} />
  )
}

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
            {t.leads.filters.lastDays(Number(span))}
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

// One end may be written before the other: it is kept here until both are there.
function Range({ condition, set }: { condition: Condition; set(values: string[]): void }) {
  const [ends, setEnds] = useState<[string, string]>([condition.values[0] ?? '', condition.values[1] ?? ''])
  const write = (next: [string, string]) => {
    setEnds(next)
    set(next)
  }
  return (
    <>
      <OneValue
        condition={condition}
        label={t.filtering.ends.from}
        value={ends[0]}
        set={(from) => write([from, ends[1]])}
      />
      <OneValue condition={condition} label={t.filtering.ends.to} value={ends[1]} set={(to) => write([ends[0], to])} />
    </>
  )
}

interface OneValueProps {
  condition: Condition
  label: string
  value: string
  set(text: string): void
}

const typedMs = 250

/** A value that is written; what is typed goes into the address when the typing rests. */
function OneValue({ condition, label, value, set }: OneValueProps) {
  const kind = kindOf(condition.column)
  const [text, setText] = useState(value)
  const [timer, setTimer] = useState<ReturnType<typeof setTimeout>>()
  const isDay = kind === 'time'
  const isOfNumbers = kind === 'number'
  // Another end of the range may be written before the typing rests.
  const latest = useRef(set)
  useEffect(() => {
    latest.current = set
  })
  const send = (typed: string) => latest.current(isOfNumbers ? typed.trim().replace(',', '.') : typed)
  return (
    <TextInput
      size="xs"
      type={isDay ? 'date' : 'text'}
      {...(isOfNumbers && { inputMode: 'decimal' as const })}
      label={label}
      value={text}
      maxLength={255}
      onChange={({ currentTarget }) => {
        const typed = currentTarget.value
        setText(typed)
        clearTimeout(timer)
        setTimer(setTimeout(() => send(typed), typedMs))
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
