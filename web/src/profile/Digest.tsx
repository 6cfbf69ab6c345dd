import { Group, Select, Switch, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { NotificationPreferences } from '../data/notifications.ts'
import { t } from '../text/index.ts'

type DigestTime = NonNullable<NotificationPreferences['digest']>

const defaultDigest = (): DigestTime => ({
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  time: '08:00',
})

interface DigestProps {
  digest: DigestTime | null
  change(to: DigestTime | null): void
}

/** The daily digest by mail. */
export function Digest({ digest, change }: DigestProps) {
  const texts = t.notifications.settings
  return (
    <>
      <Switch
        label={texts.digest}
        description={texts.digestHelp}
        checked={digest !== null}
        onChange={(event) => change(event.currentTarget.checked ? defaultDigest() : null)}
      />
      {digest !== null && <DigestFields digest={digest} change={change} />}
    </>
  )
}

function DigestFields({ digest, change }: { digest: DigestTime; change(to: DigestTime): void }) {
  const texts = t.notifications.settings
  const [zones] = useState(() => [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', digest.timeZone])])
  return (
    <Group align="flex-start">
      <TextInput
        type="time"
        label={texts.digestTime}
        value={digest.time}
        onChange={(event) => change({ ...digest, time: event.currentTarget.value })}
      />
      <Select
        label={texts.timeZone}
        data={zones}
        searchable
        allowDeselect={false}
        value={digest.timeZone}
        onChange={(chosen) => chosen !== null && change({ ...digest, timeZone: chosen })}
      />
    </Group>
  )
}
