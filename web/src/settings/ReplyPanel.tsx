import { Button, Group, Input, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { type CannedReply, cannedRepliesKey, changeReply, createReply, deleteReply } from '../data/canned-replies.ts'
import { t } from '../text/index.ts'
import { showError, showUndoToast } from '../ui/overlay/toasts.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useListChange } from '../ui/use-list-change.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

interface ReplyPanelProps {
  /** Null for a new reply. */
  reply: CannedReply | null
  close(): void
}

export function ReplyPanel({ reply, close }: ReplyPanelProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.replies
  const queryKey = cannedRepliesKey(workspaceId)
  const queries = useQueryClient()
  const remove = useRemoval(workspaceId)
  const field = useRef<HTMLTextAreaElement>(null)
  const draft = useDraft({ shortcut: reply?.shortcut ?? '', text: reply?.text ?? '' })
  const { value, set, errorOf } = draft
  const save = useMutation({
    mutationFn: async () => {
      if (reply === null) await createReply(workspaceId, value)
      else await changeReply(workspaceId, reply.id, value)
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey })
      close()
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const insert = (name: string) => {
    const at = field.current?.selectionStart ?? value.text.length
    set({ text: `${value.text.slice(0, at)}{{${name}}}${value.text.slice(field.current?.selectionEnd ?? at)}` })
    field.current?.focus()
  }
  return (
    <SidePanel
      title={reply === null ? texts.create : texts.change({ shortcut: reply.shortcut })}
      close={close}
      submit={() => save.mutate()}
      footer={
        <>
          {reply !== null && (
            <Button
              variant="default"
              c="var(--bad)"
              mr="auto"
              onClick={() => {
                close()
                void remove(reply)
              }}
            >
              {t.common.delete}
            </Button>
          )}
          <PanelButtons close={close} action={t.common.save} isBusy={save.isPending} />
        </>
      }
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
        value={value.text}
        onChange={(event) => set({ text: event.currentTarget.value })}
        error={errorOf('text')}
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
    </SidePanel>
  )
}

/** Deletes a saved reply at once, with undo. */
function useRemoval(workspaceId: string) {
  const queryKey = cannedRepliesKey(workspaceId)
  const queries = useQueryClient()
  const change = useListChange<CannedReply>(queryKey)
  return async ({ id, shortcut, text }: CannedReply) => {
    const isSaved = await change(
      (list) => list.filter((one) => one.id !== id),
      () => deleteReply(workspaceId, id),
    )
    const restore = () => createReply(workspaceId, { shortcut, text }).catch(showError)
    if (isSaved) {
      showUndoToast(t.settings.replies.deleted({ shortcut }), () => {
        void restore().then(() => queries.invalidateQueries({ queryKey }))
      })
    }
  }
}
