import { Checkbox } from '@mantine/core'
import { useState } from 'react'
import { timeZone } from '../../data/time-zone.ts'
import { useWorkspace } from '../../data/workspace.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { zoneTime } from '../../ui/format/zone-time.ts'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'
import { Picker, type PickerItem } from '../../ui/overlay/Picker.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { AtForm } from '../pick/SnoozePicker.tsx'
import { readSnooze } from '../pick/snooze-times.ts'
import styles from './Follow.module.css'

interface LaterPickerProps {
  dropdown: Dropdown
  schedule(at: Date, cancelIfCustomerWrites: boolean): void
  /** Whether the reader decides what a message of the customer does. */
  withOption?: boolean
}

interface TimeItem extends PickerItem {
  at: Date
}

const hourMs = 3_600_000

/** Chooses when a message is sent; days start in the time zone of the workspace's business hours. */
export default function LaterPicker({ dropdown, schedule, withOption = true }: LaterPickerProps) {
  const zone = useWorkspace(useWorkspaceId()).data?.hours?.timeZone ?? timeZone()
  const [now] = useState(() => new Date())
  const [isCancelled, setCancelled] = useState(true)
  const item = (id: string, label: string, at: Date): TimeItem => ({
    ...{ id, label, at },
    hint: formatDateTime(at.toISOString()),
  })
  const tomorrow = zoneTime(now, zone, 1, 9)
  const items = [
    item('hours', t.later.inTwoHours, new Date(now.getTime() + 2 * hourMs)),
    item('tomorrow', t.later.tomorrow, tomorrow),
  ]
  const take = (at: Date) => {
    dropdown.setOpen(false)
    schedule(at, isCancelled)
  }
  return (
    <Picker
      dropdown={dropdown}
      label={t.later.sendLater}
      placeholder={t.triage.pick.snoozeSearch}
      items={items}
      created={(term) => {
        const at = readSnooze(term, new Date())
        return at && { id: 'typed', label: formatDateTime(at.toISOString()), at }
      }}
      choose={({ at }) => take(at)}
    >
      {withOption && (
        <Checkbox
          className={styles.option}
          size="xs"
          label={t.later.cancelIfCustomerWrites}
          checked={isCancelled}
          onChange={(event) => setCancelled(event.currentTarget.checked)}
        />
      )}
      <AtForm now={now} first={tomorrow} submitLabel={t.later.schedule} take={take} />
    </Picker>
  )
}
