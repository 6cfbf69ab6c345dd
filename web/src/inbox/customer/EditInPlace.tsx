import { Select } from '@mantine/core'
import { type KeyboardEvent, useState } from 'react'
import { language, t } from '../../text/index.ts'
import { amountText, readAmount, shownAmount, understood } from '../../ui/format/amount.ts'
import styles from './Customer.module.css'

interface ChoiceProps {
  label: string
  value: string
  options: readonly { value: string; label: string }[]
  change(value: string): void
}

/** One of a few, changed where it stands. */
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

interface AmountProps {
  label: string
  value: number | null
  currency: string | null
  change(value: number | null): void
}

/** An amount, changed where it stands: Enter or leaving keeps it, Esc does not. */
export function Amount({ label, value, currency, change }: AmountProps) {
  const [typed, setTyped] = useState<string | null>(null)
  const read = typed === null ? value : readAmount(typed)
  const meant = typed === null ? null : understood(typed, language, currency)
  const keep = () => {
    if (typed === null || read === undefined) return
    setTyped(null)
    if (read !== value) change(read)
  }
  return (
    <>
      <InPlace
        label={label}
        value={typed ?? (value === null ? '' : shownAmount(value, currency))}
        isWrong={read === undefined}
        numeric
        begin={() => setTyped(value === null ? '' : amountText(value, language))}
        type={setTyped}
        keep={keep}
        leave={() => setTyped(null)}
      />
      {meant !== null && (
        <span className={styles.meant} role="status">
          {t.lead.readAs(meant)}
        </span>
      )}
      {read === undefined && (
        <span className={styles.wrong} role="alert">
          {t.lead.notAnAmount}
        </span>
      )}
    </>
  )
}

interface WordsProps {
  label: string
  value: string
  change(value: string): void
}

/** A few words, changed where they stand. */
export function Words({ label, value, change }: WordsProps) {
  const [typed, setTyped] = useState<string | null>(null)
  const keep = () => {
    if (typed !== null && typed.trim() !== value) change(typed.trim())
    setTyped(null)
  }
  return <InPlace label={label} value={typed ?? value} type={setTyped} keep={keep} leave={() => setTyped(null)} />
}

interface InPlaceProps {
  label: string
  value: string
  isWrong?: boolean
  numeric?: boolean
  /** Whoever comes to write sees what they would type. */
  begin?: () => void
  type(text: string): void
  keep(): void
  leave(): void
}

function InPlace({ label, value, isWrong = false, numeric = false, begin, type, keep, leave }: InPlaceProps) {
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter') keep()
    else if (event.key === 'Escape') leave()
    else return
    if (!isWrong || event.key === 'Escape') event.currentTarget.blur()
  }
  return (
    <input
      className={styles.edit}
      aria-label={label}
      aria-invalid={isWrong || undefined}
      inputMode={numeric ? 'decimal' : undefined}
      placeholder="–"
      dir="auto"
      value={value}
      onFocus={begin}
      onChange={(event) => type(event.currentTarget.value)}
      onBlur={keep}
      onKeyDown={onKeyDown}
    />
  )
}
