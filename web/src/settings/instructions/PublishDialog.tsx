import { Button, Stack, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { Versions } from '../../data/team/instructions.ts'
import { t } from '../../text/index.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { DiffView } from './DiffView.tsx'
import styles from './Instructions.module.css'
import type { ScopeDraft } from './use-scope-draft.ts'

const maxNoteLength = 200

interface PublishDialogProps {
  editor: ScopeDraft
  data: Versions
  close(): void
}

/** Shows what changes for agents, and takes a note for colleagues. */
export function PublishDialog({
  editor: { form, save, publish },
  data: { draft, versions },
  close,
}: PublishDialogProps) {
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
