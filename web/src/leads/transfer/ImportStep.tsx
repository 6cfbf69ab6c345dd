import { Button, Progress } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { type Import, useImport, useImportActions } from '../../data/imports.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, formatNumber } from '../../ui/format/time.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { MappingStep } from './MappingStep.tsx'
import { shareOf } from './mapping.ts'
import { ImportState } from './PastImports.tsx'
import { Counts, Report } from './Report.tsx'
import styles from './transfer.module.css'
import { UploadStep } from './UploadStep.tsx'

interface ImportStepProps {
  id: string
  file: File | null
  setFile(file: File): void
}

const ended: readonly Import['state'][] = ['done', 'failed', 'cancelled']

/** The step of an import, determined by its state on the server. */
export function ImportStep({ id, file, setFile }: ImportStepProps) {
  const workspaceId = useWorkspaceId()
  const query = useImport(workspaceId, id)
  return (
    <QueryBoundary query={query}>
      {(one) => (
        <div className={styles.stack}>
          <div className={styles.head}>
            <h2 className={styles.title}>{one.fileName}</h2>
            <ImportState one={one} />
            {!ended.includes(one.state) && <Cancel one={one} />}
          </div>
          {one.state === 'uploading' && <UploadStep one={one} file={file} setFile={setFile} />}
          {(one.state === 'running' || one.state === 'paused') && <ProgressStep one={one} />}
          {(one.state === 'checked' || ended.includes(one.state)) && <Report one={one} />}
          {(one.state === 'ready' || one.state === 'checked') && <MappingStep one={one} />}
        </div>
      )}
    </QueryBoundary>
  )
}

function Cancel({ one }: { one: Import }) {
  const workspaceId = useWorkspaceId()
  const [isConfirming, setConfirming] = useState(false)
  const { cancel } = useImportActions(workspaceId)
  const run = useMutation({
    mutationFn: () => cancel(one.id),
    onError: showError,
    onSuccess: () => setConfirming(false),
  })
  const { cancelImport, cancelConfirm, cancelHelp } = t.transfer
  return (
    <>
      <Button variant="subtle" size="compact-sm" color="red" onClick={() => setConfirming(true)}>
        {cancelImport}
      </Button>
      {isConfirming && (
        <Confirm
          title={cancelConfirm}
          action={cancelImport}
          run={() => run.mutateAsync().catch(() => {})}
          close={() => setConfirming(false)}
        >
          {cancelHelp}
        </Confirm>
      )}
    </>
  )
}

/** Progress. The import continues without this page. */
function ProgressStep({ one }: { one: Import }) {
  const { progress } = t.transfer
  const percent = Math.floor(100 * shareOf(one))
  return (
    <section className={styles.card} aria-live="polite">
      <strong>{one.dryRun ? progress.dryRun : progress.writing}</strong>
      <Progress value={percent} animated aria-label={progress.label} />
      <p className={styles.muted}>
        {progress.at({ percent: formatNumber(percent), rate: formatNumber(one.rowsPerSecond) })}
      </p>
      <Counts one={one} />
      {one.resumesAt !== null && <p>{progress.quota({ at: formatDateTime(one.resumesAt) })}</p>}
      <p className={styles.muted}>{progress.leave}</p>
    </section>
  )
}
