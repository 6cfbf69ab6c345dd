import { Button, Checkbox, Select, Switch, Text } from '@mantine/core'
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
import { showError } from '../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { Section } from '../ui/page/Section.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { Digest } from './Digest.tsx'
import styles from './NotificationPreferences.module.css'
import { QuietHours } from './QuietHours.tsx'

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
  return (
    <Section title={texts.title}>
      <Text size="sm" role="status">
        {texts[state]}
      </Text>
      {state === 'off' && (
        <div>
          <Button
            variant="default"
            loading={isBusy}
            onClick={() => run(() => enableBrowserNotifications(workspaceId, pushKey))}
          >
            {texts.turnOn}
          </Button>
        </div>
      )}
      {(state === 'on' || state === 'open') && (
        <div>
          <Button
            variant="default"
            loading={isBusy}
            onClick={() => run(() => disableBrowserNotifications(workspaceId))}
          >
            {texts.turnOff}
          </Button>
        </div>
      )}
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

const kinds: readonly NotificationKind[] = [
  'mention',
  'assigned',
  'handover',
  'draft',
  'waiting',
  'goal',
  'connection',
  'budget',
  'task',
  'scheduled',
  'silence',
  'broadcast',
]
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
