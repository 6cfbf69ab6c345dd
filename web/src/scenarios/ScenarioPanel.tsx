import { Button, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { deleteScenario, type Scenario, saveScenario, scenariosKey } from '../data/team/scenarios.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { problemText } from '../ui/format/error-texts.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Scenarios.module.css'

interface ScenarioPanelProps {
  editing: { scenario: Scenario } | { text: string }
  close(): void
}

/** Editor of a scenario: its text, and what is wrong with it. */
export function ScenarioPanel({ editing, close }: ScenarioPanelProps) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const known = 'scenario' in editing ? editing.scenario : null
  const [text, setText] = useState('scenario' in editing ? editing.scenario.text : editing.text)
  const [isRemoving, setRemoving] = useState(false)
  const texts = t.scenarios
  const mayWrite = hasRole(workspaceId, 'admin')
  const save = useMutation({
    mutationFn: () => saveScenario(workspaceId, known, text),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: scenariosKey(workspaceId) })
      showToast(texts.saved)
      close()
    },
    onError: (error) => issuesOf(error).length > 0 || showError(error),
  })
  const issues = issuesOf(save.error)
  return (
    <SidePanel
      title={known?.title ?? texts.create}
      size={640}
      close={close}
      submit={() => save.mutate()}
      footer={
        mayWrite && (
          <>
            {known !== null && (
              <Button variant="default" onClick={() => setRemoving(true)}>
                {texts.remove}
              </Button>
            )}
            <PanelButtons close={close} action={t.common.save} isBusy={save.isPending} />
          </>
        )
      }
    >
      <Textarea
        label={texts.text}
        description={texts.textHelp}
        className={styles.code}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        readOnly={!mayWrite}
        autosize
        minRows={16}
        maxRows={32}
        spellCheck={false}
        error={issues.length > 0 && texts.wrong}
        data-autofocus
      />
      {issues.length > 0 && (
        <ul className={styles.issues}>
          {issues.map(([path, message]) => (
            <li key={path}>
              {path === '' ? '' : `${path}: `}
              {message}
            </li>
          ))}
        </ul>
      )}
      {isRemoving && known !== null && <RemoveDialog scenario={known} close={() => setRemoving(false)} done={close} />}
    </SidePanel>
  )
}

/** Issues of the text, with their paths in it. */
function issuesOf(error: unknown): [path: string, message: string][] {
  if (!(error instanceof ApiError)) return []
  return [...error.issues].flatMap(([path, message]) =>
    path === 'text' || path.startsWith('text.') ? [[path.replace(/^text\.?/, ''), problemText(message)]] : [],
  )
}

function RemoveDialog({ scenario, close, done }: { scenario: Scenario; close(): void; done(): void }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const texts = t.scenarios
  const remove = () =>
    deleteScenario(workspaceId, scenario.id).then(() => {
      void queries.invalidateQueries({ queryKey: scenariosKey(workspaceId) })
      done()
    }, showError)
  return (
    <Confirm title={texts.confirmRemove({ name: scenario.name })} action={texts.remove} run={remove} close={close}>
      {texts.confirmRemoveHelp}
    </Confirm>
  )
}
