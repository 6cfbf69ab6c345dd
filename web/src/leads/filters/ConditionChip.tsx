import { Popover } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { t } from '../../text/index.ts'
import type { FieldContext } from '../fields/columns.tsx'
import { type Condition, isWhole } from '../fields/conditions.ts'
import type { CustomName } from '../fields/custom-columns.ts'
import styles from '../LeadsPage.module.css'
import { ConditionEditor } from './ConditionEditor.tsx'
import { sentenceOf, titleOf } from './sentence.ts'

interface ConditionChipProps {
  condition: Condition
  isOpen: boolean
  setOpen(isOpen: boolean): void
  change(condition: Condition): void
  remove(): void
  context: FieldContext
  customs: readonly CustomName[]
}

/** A condition as a sentence, changed in its place. */
export function ConditionChip({ condition, isOpen, setOpen, change, remove, context, customs }: ConditionChipProps) {
  const title = titleOf(condition.column, customs)
  const sentence = isWhole(condition) ? sentenceOf(condition, context.people, customs) : title
  return (
    <Popover
      opened={isOpen}
      onChange={(isNow) => !isNow && setOpen(false)}
      position="bottom-start"
      shadow="md"
      trapFocus
      returnFocus
    >
      <span className={styles.filter}>
        <Popover.Target>
          <button type="button" onClick={() => setOpen(!isOpen)}>
            {sentence}
          </button>
        </Popover.Target>
        <button type="button" aria-label={t.leads.filters.remove(sentence)} onClick={remove}>
          <IconX size={12} />
        </button>
      </span>
      <Popover.Dropdown aria-label={title}>
        <ConditionEditor condition={condition} title={title} context={context} change={change} />
      </Popover.Dropdown>
    </Popover>
  )
}
