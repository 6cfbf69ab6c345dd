import { Button, Checkbox, Switch, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  changeNoticeSettings,
  type NoticeKind,
  type NoticeWay,
  type NoticeSettings as Settings,
  useNoticeSettings,
} from '../data/notices.ts'
import { browserNotices, turnOff, turnOn } from '../data/push.ts'
import { t } from '../text/index.ts'
import { complain, say } from '../ui/overlay/notices.tsx'
import { Loaded } from '../ui/page/PageBody.tsx'
import { Section } from '../ui/page/Section.tsx'
import { type Draft, useDraft } from '../ui/use-draft.ts'
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
      {state === 'on' && (
        <div>
          <Button variant="default" loading={isBusy} onClick={() => run(() => turnOff(workspaceId))}>
            {texts.turnOff}
          </Button>
        </div>
      )}
    </Section>
  )
}

function SettingsForm({ settings }: { settings: Settings }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const texts = t.told.settings
  const draft = useDraft(settings)
  const { value, set } = draft
  const [isSaving, setSaving] = useState(false)
  const isSame = value.quiet !== null && value.quiet.from === value.quiet.to
  const save = () => {
    setSaving(true)
    changeNoticeSettings(queries, workspaceId, value)
      .then(() => {
        draft.reset(value)
        say(t.settings.saved)
      })
      .catch((error) => draft.refuse(error) || complain(error))
      .finally(() => setSaving(false))
  }
  return (
    <Section
      title={texts.title}
      help={texts.help}
      submit={save}
      footer={
        <Button type="submit" disabled={!draft.isChanged || isSame} loading={isSaving}>
          {t.common.save}
        </Button>
      }
    >
      <WaysTable draft={draft} />
      <Text size="xs" c="dimmed">
        {texts.wayHelp}
      </Text>
      <Switch
        label={texts.pushNames}
        description={texts.pushNamesHelp}
        checked={value.pushNames}
        onChange={(event) => set({ pushNames: event.currentTarget.checked })}
      />
      <QuietHours quiet={value.quiet} change={(quiet) => set({ quiet })} error={draft.errorOf('quiet')} />
    </Section>
  )
}

const kinds: readonly NoticeKind[] = ['mention', 'assigned', 'handover', 'waiting', 'connection']
const ways: readonly NoticeWay[] = ['bell', 'sound', 'browser', 'push']

function WaysTable({ draft: { value, set } }: { draft: Draft<Settings> }) {
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
                  aria-label={texts.of(texts.kinds[kind], texts.ways[way])}
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
