import { Popover } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { Suspense } from 'react'
import { t } from '../../text/index.ts'
import { later } from '../../ui/overlay/later.ts'
import type { FieldContext } from '../fields/columns.tsx'
import { type Condition, isWhole } from '../fields/conditions.ts'
import styles from '../LeadsPage.module.css'
import { type Names, sentenceOf, titleOf } from './sentence.ts'

const ConditionEditor = later(async () => ({ default: (await import('./ConditionEditor.tsx')).ConditionEditor }))

interface ConditionChipProps {
  condition: Condition
  isOpen: boolean
  setOpen(isOpen: boolean): void
  change(condition: Condition): void
  remove(): void
  context: FieldContext
  names: Names
}

/** A condition as a sentence, changed in its place. */
export function ConditionChip({ condition, isOpen, setOpen, change, remove, context, names }: ConditionChipProps) {
  const title = titleOf(condition.column, names.customs)
  const sentence = isWhole(condition) ? sentenceOf(condition, names) : title
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
        <Suspense>
          <ConditionEditor
            {...{ condition, title, context, change }}
            custom={names.customs.find(({ column }) => column === condition.column)}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  )
}
