import { Button, Group, Stack, Textarea, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useApiKeys } from '../../data/keys.ts'
import {
  type Draft,
  discardDraft,
  publishDraft,
  type Scope,
  saveDraft,
  useInvalidateInstructions,
  type Versions,
} from '../../data/team/instructions.ts'
import { AgentPreview } from '../../shared/agent/AgentPreview.tsx'
import { t } from '../../text/index.ts'
import { formatDateTime, formatNumber } from '../../ui/format/time.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { type Draft as Form, useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useAuthorName } from './author.ts'
import { DiffView } from './DiffView.tsx'
import styles from './Instructions.module.css'

const maxLength = 4000

/** The text of a scope while it is written: save the draft, look at what agents get, publish. */
export function DraftEditor({ scope, data }: { scope: Scope; data: Versions }) {
  const texts = t.instructions
  const agents = t.settings.agents
  const editor = useScopeDraft(scope, data)
  const [open, setOpen] = useState<'preview' | 'publish' | 'discard' | null>(null)
  const { form, save } = editor
  const { text } = form.value
  const hasDraft = data.draft !== null
  const isUnpublished = hasDraft || form.isChanged
  const preview = () =>
    void (form.isChanged ? save() : Promise.resolve()).then(
      () => setOpen('preview'),
      () => {},
    )
  // The dialogs are outside: the submission of a form in them would reach this one.
  return (
    <>
      <Section
        title={agents.instructions}
        submit={() => void save().catch(() => {})}
        footer={
          <>
            {hasDraft && (
              <Button variant="subtle" color="red" mr="auto" onClick={() => setOpen('discard')}>
                {texts.discard}
              </Button>
            )}
            <Button variant="default" disabled={!form.isChanged} type="submit" loading={editor.isSaving}>
              {texts.saveDraft}
            </Button>
            <Button variant="default" onClick={preview}>
              {texts.preview}
            </Button>
            <Button disabled={!isUnpublished} onClick={() => setOpen('publish')}>
              {texts.publish}
            </Button>
          </>
        }
      >
        <Stack gap="sm">
          <State data={data} isChanged={form.isChanged} />
          {editor.isOvertaken && <Overtaken data={data} takeTheirs={editor.takeTheirs} keepMine={editor.keepMine} />}
          <Textarea
            label={labelOf(scope)}
            description={agents.instructionsHelp}
            placeholder={agents.instructionsExample}
            autosize
            minRows={6}
            maxRows={24}
            maxLength={maxLength}
            value={text}
            onChange={(event) => form.set({ text: event.currentTarget.value })}
            error={
              form.errorOf('text') ??
              (text.length >= maxLength ? agents.instructionsTooLong({ most: formatNumber(maxLength) }) : undefined)
            }
          />
        </Stack>
      </Section>
      {open === 'preview' && <DraftPreview scope={scope} data={data} close={() => setOpen(null)} />}
      {open === 'discard' && <DiscardDialog data={data} close={() => setOpen(null)} />}
      {open === 'publish' && <PublishDialog editor={editor} data={data} close={() => setOpen(null)} />}
    </>
  )
}

function labelOf({ keyId, connectionId }: Scope): string {
  const { forKey, forConnection } = t.instructions
  if (keyId !== null) return forKey
  return connectionId === null ? t.settings.agents.instructionsLabel : forConnection
}

/** Which version agents have, and whether the text shown is another. */
function State({ data: { draft, versions }, isChanged }: { data: Versions; isChanged: boolean }) {
  const texts = t.instructions
  const nameOf = useAuthorName()
  const [newest] = versions
  const inForce = newest === undefined ? texts.noVersion : texts.inForce({ n: formatNumber(newest.version) })
  const saved = draft !== null && texts.draftBy({ name: nameOf(draft.actor), when: formatDateTime(draft.updatedAt) })
  return (
    <p className={styles.state} role="status">
      {[inForce, saved, isChanged && texts.unsaved].filter((one) => one !== false).join(' ')}
    </p>
  )
}

interface OvertakenProps {
  data: Versions
  takeTheirs(): void
  keepMine(): void
}

/** Someone else has saved or published meanwhile. */
function Overtaken({ data: { draft, versions }, takeTheirs, keepMine }: OvertakenProps) {
  const texts = t.instructions
  const nameOf = useAuthorName()
  const last = draft ?? versions[0]
  const name = nameOf(last?.actor ?? null)
  return (
    <div className={styles.notice} role="alert">
      <p>{draft === null ? texts.publishedMeanwhile({ name }) : texts.changedMeanwhile({ name })}</p>
      <Group gap={8}>
        <Button size="compact-sm" variant="default" onClick={takeTheirs}>
          {texts.takeTheirs}
        </Button>
        <Button size="compact-sm" variant="default" onClick={keepMine}>
          {texts.keepMine}
        </Button>
      </Group>
    </div>
  )
}

function DiscardDialog({ data: { draft }, close }: { data: Versions; close(): void }) {
  const texts = t.instructions
  const workspaceId = useWorkspaceId()
  const changed = useInvalidateInstructions(workspaceId)
  if (draft === null) return null
  const discard = () =>
    discardDraft(workspaceId, draft).then(async () => {
      close()
      showToast(texts.discarded)
      await changed()
    }, showError)
  return (
    <Confirm title={texts.discardConfirm} action={texts.discard} run={discard} close={close}>
      {texts.discardHelp}
    </Confirm>
  )
}

/** For a key its own preview; otherwise that of an agent to choose. */
function DraftPreview({ scope, data, close }: { scope: Scope; data: Versions; close(): void }) {
  const { data: keys = [] } = useApiKeys(useWorkspaceId())
  const concerned = keys.filter(
    ({ id, status, connectionIds }) =>
      status === 'active' &&
      (scope.keyId === null || scope.keyId === id) &&
      (scope.connectionId === null || connectionIds.length === 0 || connectionIds.includes(scope.connectionId)),
  )
  return <AgentPreview keys={concerned} draftId={data.draft?.id ?? null} close={close} />
}

const maxNoteLength = 200

interface PublishDialogProps {
  editor: ScopeDraft
  data: Versions
  close(): void
}

/** Shows what changes for agents, and takes a note for colleagues. */
function PublishDialog({ editor: { form, save, publish }, data: { draft, versions }, close }: PublishDialogProps) {
  const texts = t.instructions
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const { text, note } = form.value
  const [newest] = versions
  const version = newest?.version ?? 0
  const isOlder = draft !== null && draft.basedOn < version
  const tryFirst = () =>
    void (form.isChanged ? save() : Promise.resolve()).then(
      () =>
        navigate({
          to: '/w/$workspaceId/scenarios',
          params: { workspaceId },
          state: (state) => ({ ...state, instructions: text }),
        }),
      close,
    )
  return (
    <Confirm
      title={texts.publishConfirm({ n: formatNumber(version + 1) })}
      action={texts.publish}
      isReversible
      run={() => publish().then(close, () => {})}
      close={close}
    >
      <Stack gap="sm">
        <p className={styles.hint}>{texts.publishHelp}</p>
        {isOlder && (
          <div className={styles.notice} role="alert">
            <p>{texts.newerVersion({ n: formatNumber(version) })}</p>
          </div>
        )}
        <DiffView before={newest?.text ?? null} after={text.trim() === '' ? null : text} />
        <TextInput
          label={texts.note}
          description={texts.noteHelp}
          maxLength={maxNoteLength}
          value={note}
          onChange={(event) => form.set({ note: event.currentTarget.value })}
          error={form.errorOf('note')}
        />
        <Button variant="subtle" size="compact-sm" w="fit-content" onClick={tryFirst}>
          {texts.tryFirst}
        </Button>
      </Stack>
    </Confirm>
  )
}

interface ScopeDraft {
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
function useScopeDraft(scope: Scope, data: Versions): ScopeDraft {
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
