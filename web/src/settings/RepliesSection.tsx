import { Button, Group, Input, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import {
  type CannedReply,
  cannedRepliesKey,
  changeReply,
  createReply,
  deleteReply,
  useCannedReplies,
} from '../data/canned-replies.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { textField, useSave } from '../ui/draft-fields.ts'
import { Table } from '../ui/page/Table.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { EditPanel } from './draft/EditPanel.tsx'
import styles from './List.module.css'
import { ItemList } from './parts/ItemList.tsx'
import { useRemoval } from './parts/use-removal.ts'

export function RepliesSection() {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.replies
  const query = useCannedReplies(workspaceId)
  const mayChange = hasRole(workspaceId, 'admin')
  return (
    <ItemList
      query={query}
      create={mayChange ? texts.create : null}
      empty={texts.empty}
      panel={(reply, close) => <ReplyPanel reply={reply} close={close} />}
    >
      {(replies, open) => (
        <Table
          label={t.settings.sections.replies.title}
          rows={replies}
          keyOf={({ id }) => id}
          {...(mayChange && { open })}
          columns={[
            { key: 'shortcut', title: texts.shortcut, cell: ({ shortcut }) => `/${shortcut}` },
            { key: 'text', title: texts.text, cell: ({ text }) => <span className={styles.text}>{text}</span> },
          ]}
        />
      )}
    </ItemList>
  )
}

/** Edits a saved reply, or creates one for null. */
function ReplyPanel({ reply, close }: { reply: CannedReply | null; close(): void }) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.replies
  const queryKey = cannedRepliesKey(workspaceId)
  const queries = useQueryClient()
  const remove = useRemoval<CannedReply>(queryKey, {
    remove: ({ id }) => deleteReply(workspaceId, id),
    restore: ({ shortcut, text }) => createReply(workspaceId, { shortcut, text }),
    done: ({ shortcut }) => texts.deleted({ shortcut }),
  })
  const field = useRef<HTMLTextAreaElement>(null)
  const draft = useDraft({ shortcut: reply?.shortcut ?? '', text: reply?.text ?? '' })
  const { value, set, errorOf } = draft
  const send = async () => {
    if (reply === null) await createReply(workspaceId, value)
    else await changeReply(workspaceId, reply.id, value)
  }
  const save = useSave(draft, send, async () => {
    await queries.invalidateQueries({ queryKey })
    close()
  })
  const insert = (name: string) => {
    const at = field.current?.selectionStart ?? value.text.length
    set({ text: `${value.text.slice(0, at)}{{${name}}}${value.text.slice(field.current?.selectionEnd ?? at)}` })
    field.current?.focus()
  }
  return (
    <EditPanel
      title={reply === null ? texts.create : texts.change({ shortcut: reply.shortcut })}
      close={close}
      save={save}
      remove={reply !== null && (() => void remove(reply))}
    >
      <TextInput
        label={texts.shortcut}
        description={texts.shortcutHelp}
        leftSection="/"
        value={value.shortcut}
        maxLength={40}
        onChange={(event) => set({ shortcut: event.currentTarget.value.toLowerCase().trim() })}
        error={errorOf('shortcut')}
        data-autofocus
      />
      <Textarea
        ref={field}
        label={texts.text}
        description={texts.textHelp}
        autosize
        minRows={4}
        maxRows={14}
        maxLength={4096}
        {...textField(draft, 'text')}
      />
      <Input.Wrapper label={texts.insert} labelElement="div">
        <Group gap={6} mt={4}>
          {Object.entries(texts.placeholders).map(([name, words]) => (
            <Button key={name} size="compact-sm" variant="default" onClick={() => insert(name)}>
              {words}
            </Button>
          ))}
        </Group>
      </Input.Wrapper>
    </EditPanel>
  )
}
