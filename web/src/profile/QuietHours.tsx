import { Chip, Group, Select, Switch, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { NotificationPreferences } from '../data/notifications.ts'
import { t } from '../text/index.ts'
import { weekdayName, weekdays } from '../ui/format/time.ts'
import styles from './NotificationPreferences.module.css'

type Quiet = NonNullable<NotificationPreferences['quiet']>

const defaultHours = (): Quiet => ({
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  from: '20:00',
  to: '08:00',
  days: ['saturday', 'sunday'],
})

interface QuietHoursProps {
  quiet: Quiet | null
  change(to: Quiet | null): void
}

/** Times without sounds and alerts. */
export function QuietHours({ quiet, change }: QuietHoursProps) {
  const texts = t.notifications.settings
  return (
    <>
      <Switch
        label={texts.quiet}
        description={texts.quietHelp}
        checked={quiet !== null}
        onChange={(event) => change(event.currentTarget.checked ? defaultHours() : null)}
      />
      {quiet !== null && <QuietFields quiet={quiet} change={change} />}
    </>
  )
}

function QuietFields({ quiet, change }: QuietHoursProps & { quiet: Quiet }) {
  const texts = t.notifications.settings
  const [zones] = useState(() => [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', quiet.timeZone])])
  return (
    <>
      <Group align="flex-start">
        <TextInput
          type="time"
          label={texts.from}
          value={quiet.from}
          onChange={(event) => change({ ...quiet, from: event.currentTarget.value })}
        />
        <TextInput
          type="time"
          label={texts.to}
          value={quiet.to}
          onChange={(event) => change({ ...quiet, to: event.currentTarget.value })}
          error={quiet.from === quiet.to ? texts.sameTime : undefined}
        />
        <Select
          label={texts.timeZone}
          data={zones}
          searchable
          allowDeselect={false}
          value={quiet.timeZone}
          onChange={(chosen) => chosen !== null && change({ ...quiet, timeZone: chosen })}
        />
      </Group>
      <fieldset className={styles.days}>
        <legend>{texts.days}</legend>
        <Chip.Group multiple value={quiet.days} onChange={(days) => change({ ...quiet, days: days as Quiet['days'] })}>
          <Group gap={6}>
            {weekdays.map((day, n) => (
              <Chip key={day} value={day} size="sm">
                {weekdayName(n)}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      </fieldset>
    </>
  )
}
