import { Button, Checkbox, Select, Switch, Text } from '@mantine/core'
import { IconVolume } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  changeNoticeSettings,
  type NoticeKind,
  type NoticeTone,
  type NoticeWay,
  type NoticeSettings as Settings,
  useNoticeSettings,
  usualTone,
} from '../data/notices.ts'
import { browserNotices, turnOff, turnOn } from '../data/team/push.ts'
import { hear } from '../shared/sound.ts'
import { t } from '../text/index.ts'
import { complain } from '../ui/overlay/notices.tsx'
import { Loaded } from '../ui/page/PageBody.tsx'
import { Section } from '../ui/page/Section.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './NoticeSettings.module.css'
import { QuietHours } from './QuietHours.tsx'

/** Of what somebody is told in this workspace, how, and when not. */
export function NoticeSettings() {
  const query = useNoticeSettings(useWorkspaceId())
  return (
    <div id="notifications">
      <Loaded query={query} rows={6}>
        {({ settings, pushKey }) => (
          <>
            <ThisBrowser pushKey={pushKey} />
            <SettingsForm settings={settings} />
          </>
        )}
      </Loaded>
    </div>
  )
}

/** Asks the browser for leave: here and nowhere else. */
function ThisBrowser({ pushKey }: { pushKey: string }) {
  const workspaceId = useWorkspaceId()
  const texts = t.told.settings.browser
  const [state, setState] = useState(() => browserNotices(workspaceId))
  const [isBusy, setBusy] = useState(false)
  const run = (change: () => Promise<unknown>) => {
    setBusy(true)
    void change()
      .catch(complain)
      .finally(() => {
        setBusy(false)
        setState(browserNotices(workspaceId))
      })
  }
  return (
    <Section title={texts.title}>
      <Text size="sm" role="status">
        {texts[state]}
      </Text>
      {state === 'off' && (
        <div>
          <Button variant="default" loading={isBusy} onClick={() => run(() => turnOn(workspaceId, pushKey))}>
            {texts.turnOn}
          </Button>
        </div>
      )}
      {(state === 'on' || state === 'open') && (
        <div>
          <Button variant="default" loading={isBusy} onClick={() => run(() => turnOff(workspaceId))}>
            {texts.turnOff}
          </Button>
        </div>
      )}
    </Section>
  )
}

/** Each choice takes effect at once. */
function SettingsForm({ settings }: { settings: Settings }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const texts = t.told.settings
  const [value, setValue] = useState(settings)
  const { mutate, error } = useMutation({
    // One after the other: the last choice is the one that stays.
    scope: { id: 'notice-settings' },
    mutationFn: (to: Settings) => changeNoticeSettings(queries, workspaceId, to),
    onError: complain,
  })
  const set = (changes: Partial<Settings>) => {
    const next = { ...value, ...changes }
    setValue(next)
    if (isWhole(next)) mutate(next)
  }
  return (
    <Section title={texts.title} help={texts.help}>
      <WaysTable value={value} set={set} />
      <Text size="xs" c="dimmed">
        {texts.wayHelp}
      </Text>
      <ToneChoice tone={value.tone ?? usualTone} choose={(tone) => set({ tone })} />
      <Switch
        label={texts.pushNames}
        description={texts.pushNamesHelp}
        checked={value.pushNames}
        onChange={(event) => set({ pushNames: event.currentTarget.checked })}
      />
      <QuietHours quiet={value.quiet} change={(quiet) => set({ quiet })} />
      <div role="status" aria-live="polite">
        {error !== null && texts.notKept}
      </div>
    </Section>
  )
}

const tones: readonly NoticeTone[] = ['chime', 'drop', 'knock']

function ToneChoice({ tone, choose }: { tone: NoticeTone; choose(tone: NoticeTone): void }) {
  const texts = t.told.settings
  return (
    <div className={styles.tone}>
      <Select
        label={texts.tone}
        data={tones.map((one) => ({ value: one, label: texts.tones[one] }))}
        value={tone}
        allowDeselect={false}
        onChange={(chosen) => chosen !== null && choose(chosen as NoticeTone)}
      />
      <Button variant="default" leftSection={<IconVolume size={16} />} onClick={() => void hear(tone).catch(complain)}>
        {texts.hear}
      </Button>
    </div>
  )
}

/** A time that is being typed is none yet. */
const isWhole = ({ quiet }: Settings): boolean =>
  quiet === null || (quiet.from !== '' && quiet.to !== '' && quiet.from !== quiet.to)

const kinds: readonly NoticeKind[] = ['mention', 'assigned', 'handover', 'waiting', 'connection']
const ways: readonly NoticeWay[] = ['bell', 'sound', 'browser', 'push']

function WaysTable({ value, set }: { value: Settings; set(changes: Partial<Settings>): void }) {
  const texts = t.told.settings
  const change = (kind: NoticeKind, way: NoticeWay, isOn: boolean) =>
    set({ ways: { ...value.ways, [kind]: { ...value.ways[kind], [way]: isOn } } })
  return (
    <table className={styles.ways}>
      <thead>
        <tr>
          <th scope="col">{texts.kind}</th>
          {ways.map((way) => (
            <th key={way} scope="col">
              {texts.ways[way]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {kinds.map((kind) => (
          <tr key={kind}>
            <th scope="row">{texts.kinds[kind]}</th>
            {ways.map((way) => (
              <td key={way}>
                <Checkbox
                  aria-label={texts.of({ kind: texts.kinds[kind], way: texts.ways[way] })}
                  checked={value.ways[kind][way]}
                  disabled={way !== 'bell' && !value.ways[kind].bell}
                  onChange={(event) => change(kind, way, event.currentTarget.checked)}
                />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
