import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { type Import, useImportActions } from '../../data/imports.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, formatNumber } from '../../ui/format/time.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './transfer.module.css'

/** Undoes an import within 24 hours, with progress and the number of leads that were kept. */
export function Undo({ one }: { one: Import }) {
  const workspaceId = useWorkspaceId()
  const [isConfirming, setConfirming] = useState(false)
  const { undo } = useImportActions(workspaceId)
  const run = useMutation({ mutationFn: () => undo(one.id), onError: showError, onSettled: () => setConfirming(false) })
  const { undo: texts } = t.transfer
  if (one.undo === null || one.undo.leads === 0) return null
  const { state, leads, undone, kept, until } = one.undo
  const all = formatNumber(leads)
  if (state === 'over') return <span className={styles.muted}>{texts.over}</span>
  if (state === 'undoing') return <span role="status">{texts.undoing({ done: formatNumber(undone + kept), all })}</span>
  if (state === 'undone') {
    return (
      <span role="status">
        {texts.undone({ n: undone })} {kept > 0 && texts.kept({ n: kept })}
      </span>
    )
  }
  return (
    <>
      <Button variant="default" onClick={() => setConfirming(true)}>
        {texts.action}
      </Button>
      <span className={styles.muted}>{texts.until({ when: formatDateTime(until ?? '') })}</span>
      {isConfirming && (
        <Confirm
          title={texts.confirm({ n: leads })}
          action={texts.action}
          run={() => run.mutateAsync().catch(() => {})}
          close={() => setConfirming(false)}
        >
          {texts.help}
        </Confirm>
      )}
    </>
  )
}
