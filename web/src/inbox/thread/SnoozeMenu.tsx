import { Button, Group, Menu, Modal, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { patchConversation } from '../../data/inbox/actions.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { localInput } from '../../ui/format/local-time.ts'
import type { Drop } from '../../ui/overlay/drop.tsx'
import { sayWithUndo } from '../../ui/overlay/notices.tsx'
import { ActionItems } from './ActionItems.tsx'
import { snoozeTimes } from './snooze-times.ts'

export default function SnoozeMenu({ drop, conversation }: { drop: Drop; conversation: Conversation }) {
  const inbox = useInbox()
  const [asks, setAsks] = useState(false)
  const { id, status, snoozedUntil } = conversation
  const before = { status, ...(status === 'snoozed' && { snoozedUntil }) }
  const snooze = (until: Date | null) =>
    patchConversation(inbox, id, { status: 'snoozed', snoozedUntil: until?.toISOString() ?? null }).then((isDone) => {
      if (isDone) sayWithUndo(t.inbox.actions.snoozed, () => void patchConversation(inbox, id, before))
    })
  const times = snoozeTimes(new Date())
  const item = ({ name, until }: (typeof times)[number]) => (
    <Menu.Item key={name} onClick={() => void snooze(until)}>
      {t.inbox.snoozes[name]}
    </Menu.Item>
  )
  return (
    <>
      <ActionItems drop={drop} label={t.inbox.actions.snooze}>
        {times.slice(0, -1).map(item)}
        <Menu.Item onClick={() => setAsks(true)}>{t.inbox.snoozeAsk.open}</Menu.Item>
        {times.slice(-1).map(item)}
      </ActionItems>
      {asks && (
        <SnoozeAsk
          begin={times.find(({ name }) => name === 'tomorrow')?.until ?? new Date()}
          close={() => setAsks(false)}
          snooze={(until) => {
            setAsks(false)
            void snooze(until)
          }}
        />
      )}
    </>
  )
}

interface SnoozeAskProps {
  begin: Date
  close(): void
  snooze(until: Date): void
}

/** Until a day and an hour of one's own choice. */
function SnoozeAsk({ begin, close, snooze }: SnoozeAskProps) {
  const texts = t.inbox.snoozeAsk
  const [text, setText] = useState(() => localInput(begin.toISOString()))
  const [isTried, setTried] = useState(false)
  const until = new Date(text)
  const isWrong = !(until.getTime() > Date.now())
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (!isWrong) snooze(until)
  }
  return (
    <Modal opened onClose={close} title={texts.title} closeButtonProps={{ 'aria-label': t.common.close }}>
      <form onSubmit={submit} noValidate>
        <TextInput
          type="datetime-local"
          label={texts.until}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          error={isTried && isWrong ? texts.past : null}
          data-autofocus
        />
        <Group justify="flex-end" mt="lg" gap="xs">
          <Button variant="default" onClick={close}>
            {t.common.cancel}
          </Button>
          <Button type="submit">{t.inbox.actions.snooze}</Button>
        </Group>
      </form>
    </Modal>
  )
}
