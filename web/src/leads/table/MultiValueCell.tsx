import { Text } from '@mantine/core'
import { type KeyboardEvent, useRef, useState } from 'react'
import { t } from '../../text/index.ts'
import { splitChoices } from '../../ui/format/custom-value.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { Picker } from '../../ui/overlay/Picker.tsx'
import type { EditField, FinishTextEdit, RejectedInput } from '../fields/edit-field.ts'
import styles from '../labels/labels.module.css'

export interface ValueEditorProps {
  field: EditField
  label: string
  rejected: RejectedInput | null
  finish: FinishTextEdit
}

/** Edits several options in a cell: leaving it saves, Tab saves and moves on, Escape discards. */
export default function MultiValueCell({ field, label, rejected, finish }: ValueEditorProps) {
  const [chosen, setChosen] = useState<readonly string[]>(() => splitChoices(rejected?.text ?? field.text))
  const isGivenUp = useRef(false)
  const text = chosen.join(', ')
  const dropdown = useDropdown(true, (isOpen) => isOpen || finish(isGivenUp.current ? null : text))
  // Captured before the dropdown handles it.
  const onKeyDownCapture = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') isGivenUp.current = true
    if (event.key !== 'Tab') return
    event.preventDefault()
    event.stopPropagation()
    finish(text, event.shiftKey ? 'stay' : 'next')
  }
  const items = field.choices.map(({ value }) => ({ id: value, label: value, isOn: chosen.includes(value) }))
  return (
    <span className={styles.cell} onKeyDownCapture={onKeyDownCapture}>
      <button
        type="button"
        className={styles.edited}
        tabIndex={-1}
        title={label}
        {...dropdownButtonProps(dropdown, 'dialog')}
      >
        {text}
      </button>
      <DropdownContent dropdown={dropdown}>
        <Picker
          dropdown={dropdown}
          label={label}
          placeholder={t.fields.findChoice}
          items={items}
          isMany
          choose={({ id, isOn }) =>
            setChosen(
              field.choices.map(({ value }) => value).filter((one) => (one === id ? !isOn : chosen.includes(one))),
            )
          }
        >
          {rejected !== null && (
            <Text role="alert" size="xs" c="var(--bad)" p={8}>
              {rejected.message}
            </Text>
          )}
        </Picker>
      </DropdownContent>
    </span>
  )
}
