import { Text } from '@mantine/core'
import { type KeyboardEvent, useRef, useState } from 'react'
import { t } from '../../text/index.ts'
import { chosenOf } from '../../ui/format/custom-value.ts'
import { Dropped, dropButton, useDrop } from '../../ui/overlay/drop.tsx'
import { Picker } from '../../ui/overlay/Picker.tsx'
import type { EditField, End, Refused } from '../fields/edit-field.ts'
import styles from '../labels/labels.module.css'

interface SeveralCellProps {
  field: EditField
  label: string
  refused: Refused | null
  end: End
}

/** Some of many while they are chosen in their cell: leaving it keeps them, Tab goes on to the next, Escape does not keep them. */
export default function SeveralCell({ field, label, refused, end }: SeveralCellProps) {
  const [chosen, setChosen] = useState<readonly string[]>(() => chosenOf(refused?.text ?? field.text))
  const isGivenUp = useRef(false)
  const text = chosen.join(', ')
  const drop = useDrop(true, (isOpen) => isOpen || end(isGivenUp.current ? null : text))
  // Heard before the list that drops hears it.
  const onKeyDownCapture = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') isGivenUp.current = true
    if (event.key !== 'Tab') return
    event.preventDefault()
    event.stopPropagation()
    end(text, event.shiftKey ? 'stay' : 'next')
  }
  const items = field.choices.map(({ value }) => ({ id: value, label: value, isOn: chosen.includes(value) }))
  return (
    <span className={styles.cell} onKeyDownCapture={onKeyDownCapture}>
      <button type="button" className={styles.edited} tabIndex={-1} title={label} {...dropButton(drop, 'dialog')}>
        {text}
      </button>
      <Dropped drop={drop}>
        <Picker
          drop={drop}
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
          {refused !== null && (
            <Text role="alert" size="xs" c="var(--bad)" p={8}>
              {refused.words}
            </Text>
          )}
        </Picker>
      </Dropped>
    </span>
  )
}
