import { IconX } from '@tabler/icons-react'
import { type Condition, isComplete } from '../../shared/lead-view/conditions.ts'
import { t, withTexts } from '../../text/index.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import type { FieldContext } from '../fields/columns.tsx'
import styles from '../LeadsPage.module.css'
import { describeCondition, titleOf, type ValueNames } from './sentence.ts'

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
export function ConditionChip({ condition, isOpen, setOpen, change, remove, context, names }: ConditionChipProps) {
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
