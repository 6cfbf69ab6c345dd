import { IconX } from '@tabler/icons-react'
import { t, withTexts } from '../../text/index.ts'
import { Dropped, dropButton, useDrop } from '../../ui/overlay/drop.tsx'
import { later } from '../../ui/overlay/later.ts'
import type { FieldContext } from '../fields/columns.tsx'
import { type Condition, isWhole } from '../fields/conditions.ts'
import styles from '../LeadsPage.module.css'
import { type Names, sentenceOf, titleOf } from './sentence.ts'

const ConditionEditor = later(() => withTexts(() => import('./ConditionEditor.tsx')))

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
  const drop = useDrop(isOpen, setOpen)
  return (
    <span className={styles.filter}>
      <button type="button" {...dropButton(drop, 'dialog')}>
        {sentence}
      </button>
      <button type="button" aria-label={t.leads.filters.remove({ sentence })} onClick={remove}>
        <IconX size={12} />
      </button>
      <Dropped drop={drop}>
        <ConditionEditor
          {...{ drop, condition, title, context, change }}
          custom={names.customs.find(({ column }) => column === condition.column)}
        />
      </Dropped>
    </span>
  )
}
