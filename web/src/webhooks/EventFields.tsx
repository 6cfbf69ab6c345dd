import { Checkbox, Input } from '@mantine/core'
import { type EventPattern, useEventCatalog } from '../data/webhooks.ts'
import { t } from '../text/index.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Endpoint.module.css'
import { type Group, groups, optInEvents, toggleEvent } from './event-choice.ts'
import { patternName } from './webhook-texts.ts'

interface EventFieldsProps {
  value: readonly EventPattern[]
  change(to: EventPattern[]): void
  error: string | undefined
}

/** Events of both groups, and those of none; a whole group is one choice above its events. */
export function EventFields({ value, change, error }: EventFieldsProps) {
  const workspaceId = useWorkspaceId()
  const { data: catalog = [] } = useEventCatalog(workspaceId)
  const firesOf = (name: EventPattern) => catalog.find((one) => one.name === name)?.fires
  const box = (pattern: EventPattern, { isIn, isPart = false }: { isIn: boolean; isPart?: boolean }) => (
    <Checkbox
      key={pattern}
      label={patternName(pattern)}
      checked={isIn || value.includes(pattern)}
      indeterminate={isPart}
      disabled={isIn}
      title={firesOf(pattern)}
      onChange={() => change(toggleEvent(value, pattern))}
    />
  )
  return (
    <Input.Wrapper label={t.webhooks.events} description={t.webhooks.eventsHelp} error={error} labelElement="div">
      {(Object.keys(groups) as Group[]).map((group) => {
        const isWhole = value.includes(group)
        const isPart = !isWhole && groups[group].some((name) => value.includes(name))
        return (
          <fieldset key={group} className={styles.group} aria-label={patternName(group)}>
            {box(group, { isIn: false, isPart })}
            <div className={styles.names}>{groups[group].map((name) => box(name, { isIn: isWhole }))}</div>
          </fieldset>
        )
      })}
      <fieldset className={styles.group}>
        <legend className={styles.legend}>{t.webhooks.optIn}</legend>
        <div className={styles.names}>{optInEvents.map((name) => box(name, { isIn: false }))}</div>
      </fieldset>
    </Input.Wrapper>
  )
}
