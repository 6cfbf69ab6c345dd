import { Button, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { addLeadNote } from '../../data/lead/timeline.ts'
import { timelineKey } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import { errorSentence } from '../../ui/format/error-texts.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './Timeline.module.css'

const maxNoteLength = 10_000

/** Adds an internal note to the lead. On failure, the text stays. */
export function NoteField({ leadId }: { leadId: string }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const [text, setText] = useState('')
  // A failed attempt may have been applied: the same note uses the same idempotency key.
  const key = useRef<{ text: string; value: string }>(undefined)
  const add = useMutation({
    mutationFn: (noteText: string) => {
      if (key.current?.text !== noteText) key.current = { text: noteText, value: crypto.randomUUID() }
      return addLeadNote(workspaceId, leadId, noteText, key.current.value)
    },
    onSuccess: () => {
      key.current = undefined
      setText('')
      return queries.invalidateQueries({ queryKey: timelineKey(workspaceId, leadId) })
    },
  })
  const submit = () => {
    if (text.trim() !== '' && !add.isPending) add.mutate(text.trim())
  }
  return (
    <form
      noValidate
      className={styles.note}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <Textarea
        size="xs"
        aria-label={t.leadPage.note}
        placeholder={t.leadPage.notePlaceholder}
        autosize
        minRows={1}
        maxRows={10}
        maxLength={maxNoteLength}
        value={text}
        error={add.error === null ? null : errorSentence(add.error)}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) submit()
        }}
      />
      {text.trim() !== '' && (
        <Button type="submit" size="compact-sm" loading={add.isPending}>
          {t.leadPage.addNote}
        </Button>
      )}
    </form>
  )
}
