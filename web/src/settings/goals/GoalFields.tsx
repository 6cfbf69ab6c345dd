import { Group, NumberInput, Switch } from '@mantine/core'
import { priorities } from '../../data/inbox/types.ts'
import type { GoalMinutes, ServiceGoals } from '../../data/team/services.ts'
import { t } from '../../text/index.ts'
import styles from './GoalFields.module.css'

const fields = ['firstAnswer', 'nextAnswer', 'resolution'] as const
const maxMinutes = 10_080

export const defaultGoals: ServiceGoals = { firstAnswer: 30, nextAnswer: 60, resolution: null, priorities: {} }

interface GoalFieldsProps {
  value: ServiceGoals
  change(value: ServiceGoals): void
  disabled: boolean
}

/** Goals in minutes of business hours, and others for conversations with a priority. */
export function GoalFields({ value, change, disabled }: GoalFieldsProps) {
  const texts = t.settings.goals
  const { priorities: ofPriorities, ...common } = value
  return (
    <>
      <MinutesFields value={common} change={(minutes) => change({ ...value, ...minutes })} disabled={disabled} />
      {priorities.toReversed().map((priority) => {
        const own = ofPriorities[priority]
        const set = (minutes: GoalMinutes | null) => {
          const { [priority]: _, ...others } = ofPriorities
          change({ ...value, priorities: minutes === null ? others : { ...others, [priority]: minutes } })
        }
        return (
          <fieldset key={priority} className={styles.priority} aria-label={t.inbox.priorities[priority]}>
            <Switch
              label={texts.ofPriority({ priority: t.inbox.priorities[priority] })}
              checked={own !== undefined}
              onChange={(event) => set(event.currentTarget.checked ? common : null)}
              disabled={disabled}
            />
            {own !== undefined && <MinutesFields value={own} change={set} disabled={disabled} />}
          </fieldset>
        )
      })}
    </>
  )
}

interface MinutesFieldsProps {
  value: GoalMinutes
  change(value: GoalMinutes): void
  disabled: boolean
}

const MinutesFields = ({ value, change, disabled }: MinutesFieldsProps) => (
  <Group align="flex-start" gap="md">
    {fields.map((field) => (
      <NumberInput
        key={field}
        label={t.settings.goals[field]}
        placeholder={t.settings.goals.none}
        w={180}
        min={1}
        max={maxMinutes}
        allowDecimal={false}
        value={value[field] ?? ''}
        onChange={(minutes) => change({ ...value, [field]: minutes === '' ? null : Number(minutes) })}
        disabled={disabled}
      />
    ))}
  </Group>
)
