import { Button, Checkbox, Chip, Group, Select, Switch, Text, TextInput } from '@mantine/core'
import { IconVolume } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  defaultTone,
  type NotificationKind,
  type NotificationMethod,
  type NotificationTone,
  type NotificationPreferences as Settings,
  saveNotificationPreferences,
  useNotificationPreferences,
} from '../data/notifications.ts'
import { browserPushState, disableBrowserNotifications, enableBrowserNotifications } from '../data/team/push.ts'
import { useSession } from '../session/session.ts'
import { previewSound } from '../shared/sound.ts'
import { t } from '../text/index.ts'
import { timeZones } from '../ui/format/local-time.ts'
import { weekdayName, weekdays } from '../ui/format/time.ts'
import { showError } from '../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { Section } from '../ui/page/Section.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './NotificationPreferences.module.css'

/** Notification preferences for the workspace: events, channels and quiet hours. */
export function NotificationPreferences() {
  const query = useNotificationPreferences(useWorkspaceId())
  return (
    <div id="notifications">
      <QueryBoundary query={query} rows={6}>
        {({ settings, pushKey }) => (
          <>
            <ThisBrowser pushKey={pushKey} />
            <SettingsForm settings={settings} />
          </>
        )}
      </QueryBoundary>
    </div>
  )
}

/** Asks for the browser's permission, only here. */
function ThisBrowser({ pushKey }: { pushKey: string }) {
  const workspaceId = useWorkspaceId()
  const texts = t.notifications.settings.browser
  const [state, setState] = useState(() => browserPushState(workspaceId))
  const [isBusy, setBusy] = useState(false)
  const run = (change: () => Promise<unknown>) => {
    setBusy(true)
    void change()
      .catch(showError)
      .finally(() => {
        setBusy(false)
        setState(browserPushState(workspaceId))
      })
  }
  const button = (label: string, change: () => Promise<unknown>) => (
    <div>
      <Button variant="default" loading={isBusy} onClick={() => run(change)}>
        {label}
      </Button>
    </div>
  )
  return (
    <Section title={texts.title}>
      <Text size="sm" role="status">
        {texts[state]}
      </Text>
      {state === 'off' && button(texts.turnOn, () => enableBrowserNotifications(workspaceId, pushKey))}
      {(state === 'on' || state === 'open') && button(texts.turnOff, () => disableBrowserNotifications(workspaceId))}
    </Section>
  )
}

/** Every change is saved at once. */
function SettingsForm({ settings }: { settings: Settings }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const texts = t.notifications.settings
  const { sendsMail } = useSession()
  const [value, setValue] = useState(settings)
  const { mutate, error } = useMutation({
    // One request at a time, so that the last choice wins.
    scope: { id: 'notice-settings' },
    mutationFn: (to: Settings) => saveNotificationPreferences(queries, workspaceId, to),
    onError: showError,
  })
  const set = (changes: Partial<Settings>) => {
    const next = { ...value, ...changes }
    setValue(next)
    if (isComplete(next)) mutate(next)
  }
  return (
    <Section title={texts.title} help={texts.help}>
      <PreferencesTable value={value} set={set} />
      <Text size="xs" c="dimmed">
        {texts.methodHelp} {sendsMail && texts.mailHelp}
      </Text>
      <ToneChoice tone={value.tone ?? defaultTone} choose={(tone) => set({ tone })} />
      <Switch
        label={texts.pushNames}
        description={texts.pushNamesHelp}
        checked={value.pushNames}
        onChange={(event) => set({ pushNames: event.currentTarget.checked })}
      />
      <QuietHours quiet={value.quiet} change={(quiet) => set({ quiet })} />
      {sendsMail && <Digest digest={value.digest ?? null} change={(digest) => set({ digest })} />}
      <div role="status" aria-live="polite">
        {error !== null && texts.saveFailed}
      </div>
    </Section>
  )
}

const tones: readonly NotificationTone[] = ['chime', 'drop', 'knock']

function ToneChoice({ tone, choose }: { tone: NotificationTone; choose(tone: NotificationTone): void }) {
  const texts = t.notifications.settings
  return (
    <div className={styles.tone}>
      <Select
        label={texts.tone}
        data={tones.map((one) => ({ value: one, label: texts.tones[one] }))}
        value={tone}
        allowDeselect={false}
        onChange={(chosen) => chosen !== null && choose(chosen as NotificationTone)}
      />
      <Button
        variant="default"
        leftSection={<IconVolume size={16} />}
        onClick={() => void previewSound(tone).catch(showError)}
      >
        {texts.play}
      </Button>
    </div>
  )
}

/** Returns whether the times are complete; one that is being typed is not. */
const isComplete = ({ quiet, digest }: Settings): boolean =>
  digest?.time !== '' && (quiet === null || (quiet.from !== '' && quiet.to !== '' && quiet.from !== quiet.to))

const kinds = [
  ...(['mention', 'assigned', 'handover', 'draft', 'waiting', 'goal'] as const),
  ...(['connection', 'budget', 'task', 'scheduled', 'silence', 'broadcast'] as const),
] satisfies NotificationKind[]
const methods: readonly NotificationMethod[] = ['bell', 'sound', 'browser', 'push', 'mail']

function PreferencesTable({ value, set }: { value: Settings; set(changes: Partial<Settings>): void }) {
  const texts = t.notifications.settings
  const { sendsMail } = useSession()
  const shown = methods.filter((method) => method !== 'mail' || sendsMail)
  const change = (kind: NotificationKind, method: NotificationMethod, isOn: boolean) =>
    set({ ways: { ...value.ways, [kind]: { ...value.ways[kind], [method]: isOn } } })
  return (
    <table className={styles.ways}>
      <thead>
        <tr>
          <th scope="col">{texts.kind}</th>
          {shown.map((method) => (
            <th key={method} scope="col">
              {texts.methods[method]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {kinds.map((kind) => (
          <tr key={kind}>
            <th scope="row">{texts.kinds[kind]}</th>
            {shown.map((method) => (
              <td key={method}>
                <Checkbox
                  aria-label={texts.of({ kind: texts.kinds[kind], method: texts.methods[method] })}
                  checked={value.ways[kind][method] ?? false}
                  disabled={method !== 'bell' && !value.ways[kind].bell}
                  onChange={(event) => change(kind, method, event.currentTarget.checked)}
                />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

type Quiet = NonNullable<Settings['quiet']>

const defaultHours = (): Quiet => ({
  timeZone: zoneHere(),
  from: '20:00',
  to: '08:00',
  days: ['saturday', 'sunday'],
})

interface QuietHoursProps {
  quiet: Quiet | null
  change(to: Quiet | null): void
}

/** Times without sounds and alerts. */
function QuietHours({ quiet, change }: QuietHoursProps) {
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
        <ZoneSelect zone={quiet.timeZone} change={(timeZone) => change({ ...quiet, timeZone })} />
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

type DigestTime = NonNullable<Settings['digest']>

const defaultDigest = (): DigestTime => ({ timeZone: zoneHere(), time: '08:00' })

/** The daily digest by mail. */
function Digest({ digest, change }: { digest: DigestTime | null; change(to: DigestTime | null): void }) {
  const texts = t.notifications.settings
  return (
    <>
      <Switch
        label={texts.digest}
        description={texts.digestHelp}
        checked={digest !== null}
        onChange={(event) => change(event.currentTarget.checked ? defaultDigest() : null)}
      />
      {digest !== null && (
        <Group align="flex-start">
          <TextInput
            type="time"
            label={texts.digestTime}
            value={digest.time}
            onChange={(event) => change({ ...digest, time: event.currentTarget.value })}
          />
          <ZoneSelect zone={digest.timeZone} change={(timeZone) => change({ ...digest, timeZone })} />
        </Group>
      )}
    </>
  )
}

const zoneHere = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

function ZoneSelect({ zone, change }: { zone: string; change(zone: string): void }) {
  const [zones] = useState(() => timeZones(zone))
  return (
    <Select
      label={t.notifications.settings.timeZone}
      data={zones}
      searchable
      allowDeselect={false}
      value={zone}
      onChange={(chosen) => chosen !== null && change(chosen)}
    />
  )
}
