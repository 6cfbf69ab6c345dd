import { Popover } from '@mantine/core'
import { IconCheck, IconMinus } from '@tabler/icons-react'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { t } from '../../text/index.ts'
import { foldText } from '../format/fold-text.ts'
import { DropdownTarget, useDropdownState } from './DropdownMenu.tsx'
import type { Dropdown } from './dropdown.tsx'
import styles from './Picker.module.css'

export interface PickerItem {
  id: string
  label: string
  hint?: string
  icon?: ReactNode
  /** Whether the item is selected, in multiple selection; `some` if only for some of several. */
  isOn?: boolean | 'some'
}

interface PickerProps<I extends PickerItem> {
  dropdown: Dropdown
  label: string
  placeholder: string
  items: readonly I[]
  /** Shown without any items. */
  none?: string
  /** Returns an item for the typed text beside the others: something new, or a time. */
  created?(term: string): I | null
  choose(item: I): void
  /** Stays open for multiple selection. */
  isMany?: boolean
  /** Shown below the list. */
  children?: ReactNode
}

/** Searchable list to choose from, with Enter. Drops from a button rendered before. */
export function Picker<I extends PickerItem>({ dropdown, label, children, ...rest }: PickerProps<I>) {
  const { isOpen, ...opening } = useDropdownState(dropdown)
  return (
    <Popover {...opening} opened={isOpen} position="bottom-end" width={280} shadow="md" trapFocus>
      <Popover.Target>
        <DropdownTarget dropdown={dropdown} />
      </Popover.Target>
      <Popover.Dropdown aria-label={label} p={0} className={styles.drop}>
        <Choice dropdown={dropdown} label={label} {...rest} />
        {children}
      </Popover.Dropdown>
    </Popover>
  )
}

function Choice<I extends PickerItem>(props: Omit<PickerProps<I>, 'children'>) {
  const { dropdown, label, placeholder, items, none, created, choose, isMany = false } = props
  const [term, setTerm] = useState('')
  const [at, setAt] = useState(0)
  const shown = findAmong(items, term.trim(), created)
  const active = shown[Math.min(at, shown.length - 1)]
  const take = (item: I | undefined) => {
    if (item === undefined) return
    setTerm('')
    if (!isMany) dropdown.setOpen(false)
    choose(item)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setAt((Math.min(at, shown.length - 1) + step + shown.length) % Math.max(shown.length, 1))
    else if (event.key === 'Enter' && !event.nativeEvent.isComposing) take(active)
    else return
    event.preventDefault()
  }
  const idOf = (item: I) => `${dropdown.id}-${item.id}`
  return (
    <>
      <input
        ref={focusHere}
        className={styles.field}
        value={term}
        maxLength={80}
        onChange={(event) => {
          setTerm(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
        placeholder={placeholder}
        aria-label={label}
        role="combobox"
        aria-expanded={shown.length > 0}
        aria-controls={shown.length > 0 ? `${dropdown.id}-list` : undefined}
        aria-activedescendant={active && idOf(active)}
        autoComplete="off"
        data-autofocus
      />
      {shown.length === 0 && <p className={styles.none}>{items.length === 0 ? none : t.triage.pick.nothing}</p>}
      {shown.length > 0 && (
        <div
          className={styles.list}
          id={`${dropdown.id}-list`}
          role="listbox"
          aria-label={label}
          aria-multiselectable={isMany}
        >
          {shown.map((item, n) => (
            <div
              key={item.id}
              id={idOf(item)}
              role="option"
              tabIndex={-1}
              aria-selected={item.isOn === undefined ? item === active : item.isOn !== false}
              data-active={item === active || undefined}
              className={styles.item}
              ref={item === active ? scrollHere : undefined}
              onMouseMove={() => setAt(n)}
              onClick={() => take(item)}
              onKeyDown={onKeyDown}
            >
              {item.icon}
              <span className={styles.label}>{item.label}</span>
              {item.hint !== undefined && <span className={styles.hint}>{item.hint}</span>}
              {item.isOn === true && <IconCheck size={16} aria-hidden="true" />}
              {item.isOn === 'some' && <IconMinus size={16} aria-hidden="true" />}
            </div>
          ))}
        </div>
      )}
    </>
  )
}

function findAmong<I extends PickerItem>(items: readonly I[], term: string, created: PickerProps<I>['created']): I[] {
  const extra = term === '' ? null : (created?.(term) ?? null)
  const found = items.filter((item) => foldText(`${item.label} ${item.hint ?? ''}`).includes(foldText(term)))
  return extra === null ? found : [...found, extra]
}

/** Focuses immediately: the focus trap waits, and a letter typed meanwhile would be a shortcut of the page. */
const focusHere = (element: HTMLElement | null) => element?.focus({ preventScroll: true })
const scrollHere = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' })
