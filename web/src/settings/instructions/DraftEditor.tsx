import { Button, Group, Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import { useApiKeys } from '../../data/keys.ts'
import { discardDraft, type Scope, useInvalidateInstructions, type Versions } from '../../data/team/instructions.ts'
import { AgentPreview } from '../../shared/agent/AgentPreview.tsx'
import { t } from '../../text/index.ts'
import { formatDateTime, formatNumber } from '../../ui/format/time.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useAuthorName } from './author.ts'
import styles from './Instructions.module.css'
import { PublishDialog } from './PublishDialog.tsx'
import { useScopeDraft } from './use-scope-draft.ts'

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
