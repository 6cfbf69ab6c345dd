import { Button, Group, TextInput } from '@mantine/core'
import { useState } from 'react'
import { type Broadcast, type BroadcastStart, useBroadcastActions, useBroadcasts } from '../data/outreach/broadcasts.ts'
import { timeZone } from '../data/time-zone.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { formatNumber } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { Section } from '../ui/page/Section.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Broadcasts.module.css'

const ways = ['now', 'at', 'local'] as const
type Way = (typeof ways)[number]

/** A test to oneself, and the start: now, at a time, or at the recipients' local time. */
export function StartSection({ broadcast }: { broadcast: Broadcast }) {
  const texts = t.broadcasts
  const workspaceId = useWorkspaceId()
  const isAdmin = hasRole(workspaceId, 'admin')
  const { state } = broadcast
  return (
    <Section title={texts.steps.start} help={texts.steps.startHelp}>
      <TestForm broadcast={broadcast} />
      {!isAdmin && <p className={styles.muted}>{texts.adminsStart}</p>}
      {isAdmin && state === 'ready' && <StartForm broadcast={broadcast} />}
      {isAdmin && state === 'awaiting_approval' && <ApproveForm broadcast={broadcast} />}
    </Section>
  )
}

function TestForm({ broadcast: { id, variants } }: { broadcast: Broadcast }) {
  const texts = t.broadcasts
  const actions = useBroadcastActions(useWorkspaceId())
  const [phone, setPhone] = useState('')
  const [isBusy, setBusy] = useState(false)
  const test = (variant: number) => {
    setBusy(true)
    return actions
      .test(id, { phone, variant }, crypto.randomUUID())
      .then(({ status }) => showToast(texts.testResults[status]), showError)
      .finally(() => setBusy(false))
  }
  return (
    <div className={styles.row}>
      <TextInput
        label={texts.testPhone}
        type="tel"
        value={phone}
        maxLength={64}
        onChange={(event) => setPhone(event.currentTarget.value)}
      />
      {variants.map((_, n) => (
        <Button
          // biome-ignore lint/suspicious/noArrayIndexKey: variants have no ids
          key={n}
          variant="default"
          disabled={phone.trim() === ''}
          loading={isBusy}
          onClick={() => void test(n)}
        >
          {variants.length === 1 ? texts.test : texts.testOf({ n: n + 1 })}
        </Button>
      ))}
    </div>
  )
}

function StartForm({ broadcast }: { broadcast: Broadcast }) {
  const texts = t.broadcasts
  const workspaceId = useWorkspaceId()
  const actions = useBroadcastActions(workspaceId)
  const needsApproval = useBroadcasts(workspaceId).data?.approval === true
  const [way, setWay] = useState<Way>('now')
  const [time, setTime] = useState('')
  const [isAsking, setAsking] = useState(false)
  const included = broadcast.counts?.included ?? 0
  const isReady = included > 0 && (way === 'now' || time !== '')
  const start = () => actions.start(broadcast.id, startOf(way, time)).then(() => setAsking(false), showError)
  return (
    <>
      <Segments
        label={texts.when}
        data={ways.map((value) => ({ value, label: texts.ways[value] }))}
        value={way}
        onChange={setWay}
      />
      {way !== 'now' && (
        <TextInput
          label={texts.ways[way]}
          description={way === 'local' ? texts.localHelp : undefined}
          type="datetime-local"
          value={time}
          onChange={(event) => setTime(event.currentTarget.value)}
        />
      )}
      <Group>
        <Button disabled={!isReady} onClick={() => setAsking(true)}>
          {needsApproval ? texts.ask : texts.start}
        </Button>
      </Group>
      {isAsking && (
        <Confirm
          title={texts.startConfirm({ n: included, shown: formatNumber(included) })}
          action={needsApproval ? texts.ask : texts.start}
          run={start}
          close={() => setAsking(false)}
        >
          {needsApproval ? texts.approvalHelp : texts.startConfirmHelp}
        </Confirm>
      )}
    </>
  )
}

function startOf(way: Way, time: string): BroadcastStart {
  if (way === 'now') return {}
  if (way === 'at') return { at: new Date(time).toISOString() }
  return { localAt: time.slice(0, 16), timeZone: timeZone() }
}

function ApproveForm({ broadcast: { id, startedBy } }: { broadcast: Broadcast }) {
  const texts = t.broadcasts
  const actions = useBroadcastActions(useWorkspaceId())
  return (
    <>
      <p className={styles.notice}>{texts.asked({ name: startedBy?.name ?? t.common.unknown })}</p>
      <Group>
        <Button onClick={() => void actions.control(id, 'approve').catch(showError)}>{texts.approve}</Button>
      </Group>
    </>
  )
}
