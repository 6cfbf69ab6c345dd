import { MultiSelect, Select } from '@mantine/core'
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import {
  type FieldRule,
  formatValue,
  inputValue,
  interpretTyped,
  isNumberType,
  parseTyped,
  validateTyped,
  withCurrentChoices,
} from '../../ui/format/custom-value.ts'
import styles from './Customer.module.css'

interface ChoiceProps {
  label: string
  value: string
  options: readonly { value: string; label: string }[]
  change(value: string): void
}

/** Edits one of a few options in place. */
export function Choice({ label, value, options, change }: ChoiceProps) {
  const isKnown = options.some((one) => one.value === value)
  return (
    <Select
      aria-label={label}
      size="xs"
      data={isKnown ? [...options] : [{ value, label: value }, ...options]}
      value={value}
      onChange={(chosen) => chosen !== null && chosen !== value && change(chosen)}
      allowDeselect={false}
      classNames={{ input: styles.edit ?? '' }}
      comboboxProps={{ width: 200, position: 'bottom-start' }}
    />
  )
}

interface MultiChoiceProps {
  label: string
  chosen: readonly string[]
  options: readonly string[]
  change(chosen: string[]): void
}

/** Edits several options in place. */
export function MultiChoice({ label, chosen, options, change }: MultiChoiceProps) {
  return (
    <MultiSelect
      aria-label={label}
      size="xs"
      data={withCurrentChoices(options, chosen)}
      value={[...chosen]}
      onChange={change}
      placeholder={chosen.length === 0 ? '–' : undefined}
      classNames={{ input: styles.several ?? '' }}
      comboboxProps={{ width: 200, position: 'bottom-start' }}
    />
  )
}

interface TextValueProps {
  label: string
  rule: FieldRule
  value: string | undefined
  currency: string | null
  /** Null if the field was cleared. */
  change(value: string | null): void
}

/** Edits text in place; formatted until it has the focus. Enter or leaving the field saves, Esc does not. */
export function TextValue(props: TextValueProps) {
  const { label, rule } = props
  const { typed, shown, wrong, interpretation, start, setTyped, save } = useTyping(props)
  const isCancelled = useRef(false)
  const input = useRef<HTMLInputElement>(null)
  const isDay = rule.type === 'date'
  const kind = isDay && typed !== null ? 'date' : 'text'
  useLayoutEffect(() => {
    if (kind === 'date') input.current?.focus()
  }, [kind])
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return
    isCancelled.current = event.key === 'Escape'
    if (wrong === null || isCancelled.current) event.currentTarget.blur()
    // Otherwise the inbox would go back to its list.
    event.stopPropagation()
  }
  return (
    <>
      <input
        // A date is edited in a separate input: changing the type of a focused input would lose key presses.
        key={kind}
        ref={input}
        className={styles.edit}
        type={kind}
        aria-label={label}
        aria-invalid={wrong !== null || undefined}
        inputMode={isNumberType(rule.type) ? 'decimal' : undefined}
        placeholder="–"
        dir="auto"
        value={typed ?? shown}
        onFocus={({ currentTarget }) => {
          if (isDay) return start()
          // The raw value must be rendered before it is selected.
          flushSync(start)
          currentTarget.select()
        }}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onBlur={({ currentTarget: { validity } }) => {
          // It was replaced by the date input.
          if (isDay && typed === null) return
          // An incomplete date is not saved.
          if (isCancelled.current || validity.badInput) setTyped(null)
          else save()
          isCancelled.current = false
        }}
        onKeyDown={onKeyDown}
      />
      {interpretation !== null && (
        <span className={styles.interpretation} role="status">
          {interpretation}
        </span>
      )}
      {wrong !== null && (
        <span className={styles.wrong} role="alert">
          {wrong}
        </span>
      )}
    </>
  )
}

/** Returns the text while it is edited, null otherwise, and what it means. */
function useTyping({ rule, value, currency, change }: TextValueProps) {
  const [typed, setTyped] = useState<string | null>(null)
  const saved = inputValue(rule, value)
  const wrong = typed === null ? null : validateTyped(rule, typed)
  return {
    typed,
    setTyped,
    shown: value === undefined ? '' : formatValue(rule, value, currency),
    wrong,
    interpretation: typed === null ? null : interpretTyped(rule, typed, currency),
    /** Starts editing, with the value as it is typed. */
    start: () => setTyped((before) => before ?? saved),
    save: () => {
      if (typed === null || wrong !== null) return
      setTyped(null)
      const read = parseTyped(rule, typed) ?? null
      if (typed.trim() !== saved) change(read === null ? null : String(read))
    },
  }
}
