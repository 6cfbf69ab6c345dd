import { Button, Menu, MultiSelect, NumberInput, Select, TagsInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import type { Condition } from '../../data/team/automation.ts'
import { t } from '../../text/index.ts'
import { RowButton } from '../parts/RowButton.tsx'
import styles from './Automation.module.css'
import { type Field, fieldsFor, newCondition, type Trigger } from './rule-draft.ts'
import { type Choices, valuesFor } from './use-choices.ts'

interface ConditionFieldsProps {
  trigger: Trigger
  conditions: readonly Condition[]
  set(conditions: Condition[]): void
  choices: Choices
  error: string | undefined
}

/** What must hold for a rule to act. */
export function ConditionFields({ trigger, conditions, set, choices, error }: ConditionFieldsProps) {
  const texts = t.settings.automation
  return (
    <fieldset className={styles.part}>
      <legend>{texts.conditions}</legend>
      {conditions.length === 0 && <p className={styles.help}>{texts.noConditions}</p>}
      {conditions.map((condition, n) => (
        // Two equal conditions are interchangeable.
        // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no ids
        <div key={n} className={styles.row}>
          <ConditionRow
            condition={condition}
            place={n + 1}
            choices={choices}
            change={(to) => set(conditions.with(n, to))}
          />
          <RowButton
            label={texts.removeCondition({ n: n + 1 })}
            icon={IconX}
            run={() => set(conditions.toSpliced(n, 1))}
          />
        </div>
      ))}
      {error !== undefined && <p role="alert">{error}</p>}
      <AddMenu
        label={texts.addCondition}
        items={fieldsFor(trigger).map((field) => ({ value: field, label: texts.fields[field] }))}
        add={(field) => set([...conditions, newCondition(field as Field)])}
      />
    </fieldset>
  )
}

interface ConditionRowProps {
  condition: Condition
  place: number
  choices: Choices
  change(to: Condition): void
}

function ConditionRow({ condition, place, choices, change }: ConditionRowProps) {
  const texts = t.settings.automation
  const { field, operator, values, key } = condition
  const name = texts.fields[field]
  const label = texts.valueOf({ n: place, name })
  const listed = valuesFor(field, choices)
  const operators = field === 'lead_value' ? texts.amounts : field === 'message_text' ? texts.contains : texts.is
  return (
    <div className={styles.condition}>
      <span className={styles.name}>{name}</span>
      {field === 'lead_field' && (
        <Select
          aria-label={texts.leadField}
          placeholder={texts.leadField}
          data={choices.leadFields}
          value={key || null}
          onChange={(chosen) => change({ ...condition, key: chosen ?? '' })}
          searchable
        />
      )}
      <Select
        aria-label={texts.operatorOf({ n: place, name })}
        data={Object.entries(operators).map(([value, label]) => ({ value, label }))}
        value={operator}
        allowDeselect={false}
        onChange={(chosen) => chosen !== null && change({ ...condition, operator: chosen as Condition['operator'] })}
      />
      {field === 'lead_value' ? (
        <NumberInput
          aria-label={label}
          min={0}
          decimalScale={2}
          value={values[0] ?? ''}
          onChange={(value) => change({ ...condition, values: value === '' ? [] : [String(value)] })}
        />
      ) : listed === null ? (
        <TagsInput
          aria-label={label}
          placeholder={values.length === 0 ? texts.typeValues : ''}
          value={values}
          maxTags={50}
          onChange={(next) => change({ ...condition, values: next })}
        />
      ) : (
        <MultiSelect
          aria-label={label}
          data={listed}
          value={values}
          maxValues={50}
          onChange={(next) => change({ ...condition, values: next })}
          searchable
        />
      )}
    </div>
  )
}

interface AddMenuProps {
  label: string
  items: readonly { value: string; label: string }[]
  add(value: string): void
}

export function AddMenu({ label, items, add }: AddMenuProps) {
  return (
    <Menu position="bottom-start" width={280}>
      <Menu.Target>
        <Button variant="default" size="compact-sm" leftSection={<IconPlus size={14} />} className={styles.add}>
          {label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={360} style={{ overflowY: 'auto' }}>
        {items.map((item) => (
          <Menu.Item key={item.value} onClick={() => add(item.value)}>
            {item.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
