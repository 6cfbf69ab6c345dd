import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type Draft,
  publishDraft,
  type Scope,
  saveDraft,
  useInvalidateInstructions,
  type Versions,
} from '../../data/team/instructions.ts'
import { t } from '../../text/index.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { type Draft as Form, useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

export interface ScopeDraft {
  form: Form<{ text: string; note: string }>
  isSaving: boolean
  /** Someone else has saved or published since this text was begun. */
  isOvertaken: boolean
  takeTheirs(): void
  keepMine(): void
  save(): Promise<Draft>
  /** Saves what is not saved, then publishes. */
  publish(): Promise<unknown>
}

/** Edits the draft of a scope: it follows changes of others until something is typed. */
export function useScopeDraft(scope: Scope, data: Versions): ScopeDraft {
  const workspaceId = useWorkspaceId()
  const changed = useInvalidateInstructions(workspaceId)
  // What the text was begun from.
  const [base, setBase] = useState(data)
  const [seen, setSeen] = useState(data)
  const form = useDraft(valuesOf(base))
  if (seen !== data) {
    setSeen(data)
    if (!form.isChanged) {
      setBase(data)
      form.reset(valuesOf(data))
    }
  }
  const start = async (): Promise<Draft> => {
    const { text, note } = form.value
    const saved = await saveDraft(workspaceId, {
      ...scope,
      text: text.trim() === '' ? null : text,
      note: note.trim() === '' ? null : note,
      basedOn: versionOf(base),
      revision: base.draft?.revision ?? null,
    })
    setBase({ ...base, draft: saved })
    form.reset({ text, note })
    return saved
  }
  const refused = (error: unknown) => {
    if (!form.applyError(error)) showError(error)
    // Shows what someone else has done.
    void changed()
  }
  const saving = useMutation({
    mutationFn: start,
    onSuccess: async () => {
      showToast(t.instructions.saved)
      await changed()
    },
    onError: refused,
  })
  const publishing = useMutation({
    mutationFn: async () => {
      const saved = form.isChanged || base.draft === null ? await start() : base.draft
      return publishDraft(workspaceId, saved, versionOf(data))
    },
    onSuccess: async ({ version }) => {
      showToast(t.instructions.published({ n: version.version }))
      await changed()
    },
    onError: refused,
  })
  return {
    form,
    isSaving: saving.isPending,
    isOvertaken: form.isChanged && !saving.isPending && stateOf(base) !== stateOf(data),
    takeTheirs: () => {
      setBase(data)
      form.reset(valuesOf(data))
    },
    keepMine: () => setBase(data),
    save: () => saving.mutateAsync(),
    publish: () => publishing.mutateAsync(),
  }
}

const versionOf = ({ versions }: Versions): number => versions[0]?.version ?? 0

const valuesOf = ({ draft, versions }: Versions) => ({
  text: (draft === null ? versions[0]?.text : draft.text) ?? '',
  note: draft?.note ?? '',
})

/** Differs when someone has saved, discarded or published. */
const stateOf = ({ draft, versions }: Versions): string =>
  `${draft?.id ?? ''} ${draft?.revision ?? 0} ${versions[0]?.version ?? 0}`
