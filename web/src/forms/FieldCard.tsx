import { ActionIcon, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconChevronDown, IconGripVertical, IconTrash } from '@tabler/icons-react'
import { t } from '../text/index.ts'
import styles from './Builder.module.css'
import { FieldForm, type FieldFormProps } from './FieldForm.tsx'

interface FieldCardProps extends FieldFormProps {
  place: { at: number; count: number }
  isOpen: boolean
  toggle(): void
  move(by: number): void
  remove(): void
  drag(isOn: boolean): void
}

export function FieldCard(props: FieldCardProps) {
  const { field, place, isOpen, errorOf, toggle, move, remove, drag } = props
  const { label, type, required, key } = field
  const isWrong = ['key', 'label', 'type', 'options'].some((part) => errorOf(part) !== undefined)
  return (
    <>
      <div className={styles.head}>
        <span
          className={styles.grip}
          draggable
          title={t.forms.drag}
          aria-hidden="true"
          onDragStart={(event) => {
            event.dataTransfer.effectAllowed = 'move'
            event.dataTransfer.setData('text/plain', label)
            drag(true)
          }}
          onDragEnd={() => drag(false)}
        >
          <IconGripVertical size={16} />
        </span>
        <UnstyledButton
          className={styles.name}
          aria-expanded={isOpen}
          onClick={toggle}
          onKeyDown={(event) => {
            if (!event.altKey || !['ArrowUp', 'ArrowDown'].includes(event.key)) return
            event.preventDefault()
            move(event.key === 'ArrowUp' ? -1 : 1)
          }}
        >
          <span>
            <VisuallyHidden>{t.common.edit} </VisuallyHidden>
            <strong>{label}</strong>
            {required && ' *'}
          </span>
          <span className={styles.kind} data-wrong={isWrong || undefined}>
            {t.forms.types[type]}
          </span>
          <IconChevronDown size={16} data-open={isOpen || undefined} className={styles.chevron ?? ''} />
        </UnstyledButton>
        <ActionIcon
          variant="subtle"
          color="gray"
          disabled={place.at === 0}
          onClick={() => move(-1)}
          aria-label={t.forms.moveUp({ label })}
        >
          <IconArrowUp size={16} />
        </ActionIcon>
        <ActionIcon
          variant="subtle"
          color="gray"
          disabled={place.at === place.count - 1}
          onClick={() => move(1)}
          aria-label={t.forms.moveDown({ label })}
        >
          <IconArrowDown size={16} />
        </ActionIcon>
        <ActionIcon
          variant="subtle"
          color="gray"
          disabled={key === 'firstName'}
          onClick={remove}
          aria-label={t.forms.removeField({ label })}
        >
          <IconTrash size={16} />
        </ActionIcon>
      </div>
      {isOpen && <FieldForm {...props} />}
    </>
  )
}
