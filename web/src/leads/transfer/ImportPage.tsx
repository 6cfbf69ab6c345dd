import { Button, FileButton, Progress } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { type Import, useImport, useImportActions, useImports, useLiveImports } from '../../data/imports.ts'
import { hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { Chip, type Tone } from '../../ui/Chip.tsx'
import { errorSentence } from '../../ui/format/error-texts.ts'
import { formatDateTime, formatNumber, timeAgo } from '../../ui/format/time.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { BackLink } from '../../ui/page/BackLink.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { PageBody, QueryBoundary } from '../../ui/page/PageBody.tsx'
import { PageHeader } from '../../ui/page/PageHeader.tsx'
import { type Column, Table } from '../../ui/page/Table.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { MappingStep } from './MappingStep.tsx'
import { Counts, Report } from './Report.tsx'
import styles from './transfer.module.css'
import { formatOf, uploadFile } from './upload.ts'

/** Imports leads from a file: choose, upload, map columns, dry run, import. Each import has its own address. */
export function ImportPage() {
  const workspaceId = useWorkspaceId()
  const { id } = useSearch({ strict: false })
  useLiveImports(workspaceId)
  const mayImport = hasRole(workspaceId, 'admin')
  return (
    <>
      <PageHeader
        title={t.transfer.importTitle}
        before={
          id === undefined ? (
            <BackLink path="leads" label={t.common.pages.leads} />
          ) : (
            <BackLink path="leads/import" label={t.transfer.importTitle} />
          )
        }
      />
      <PageBody narrow>{mayImport ? <Imports id={id} /> : <ErrorState error={new ApiError(403, '')} />}</PageBody>
    </>
  )
}

function Imports({ id }: { id: string | undefined }) {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const imports = useImports(workspaceId)
  const { create } = useImportActions(workspaceId)
  // The file is kept until the page is closed: after a reload it must be chosen again.
  const [file, setFile] = useState<File | null>(null)
  const open = (importId: string) =>
    void navigate({ to: '/w/$workspaceId/leads/import', params: { workspaceId }, search: { id: importId } })
  const take = async (chosen: File) => {
    setFile(chosen)
    const format = formatOf(chosen.name)
    await create({ fileName: chosen.name, size: chosen.size, format }).then((one) => open(one.id), showError)
  }
  if (id !== undefined) return <ImportStep key={id} id={id} file={file} setFile={setFile} />
  return (
    <>
      <DropFile take={take} />
      <QueryBoundary query={imports} rows={3}>
        {(all) => all.length > 0 && <PastImports imports={all} open={open} />}
      </QueryBoundary>
    </>
  )
}

const tones: Partial<Record<Import['state'], Tone>> = {
  running: 'accent',
  paused: 'attention',
  checked: 'accent',
  done: 'good',
  failed: 'bad',
}

/** Past imports, newest first; each opens where it was left. */
function PastImports({ imports, open }: { imports: Import[]; open(id: string): void }) {
  return (
    <section className={styles.past}>
      <h2 className={styles.title}>{t.transfer.past}</h2>
      <Table
        label={t.transfer.past}
        columns={columns()}
        rows={imports}
        keyOf={({ id }) => id}
        open={({ id }) => open(id)}
      />
    </section>
  )
}

const columns = (): Column<Import>[] => [
  { key: 'file', title: t.transfer.file, cell: ({ fileName }) => fileName },
  { key: 'state', title: t.transfer.state, cell: (one) => <ImportState one={one} /> },
  { key: 'rows', title: t.transfer.rows, cell: ({ rows }) => formatNumber(rows), numeric: true },
  {
    key: 'refused',
    title: t.transfer.refused,
    cell: ({ refused }) => formatNumber(refused),
    numeric: true,
    optional: true,
  },
  {
    key: 'when',
    title: t.transfer.when,
    cell: ({ createdAt }) => <span title={formatDateTime(createdAt)}>{timeAgo(createdAt)}</span>,
    optional: true,
  },
]

function ImportState({ one: { state } }: { one: Import }) {
  return <Chip tone={tones[state] ?? 'plain'}>{t.transfer.states[state]}</Chip>
}

interface ImportStepProps {
  id: string
  file: File | null
  setFile(file: File): void
}

const ended: readonly Import['state'][] = ['done', 'failed', 'cancelled']

/** The step of an import, determined by its state on the server. */
function ImportStep({ id, file, setFile }: ImportStepProps) {
  const query = useImport(useWorkspaceId(), id)
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
  const close = () => setConfirming(false)
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
          run={() => cancel(one.id).then(close, showError)}
          close={close}
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
  const percent = one.sizeBytes === 0 ? 0 : Math.floor(Math.min(100, (100 * one.doneBytes) / one.sizeBytes))
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

interface UploadStepProps extends Omit<ImportStepProps, 'id'> {
  one: Import
}

const megabyte = 1_000_000

/** Uploads the file. Without the file, such as after a reload, asks for it and resumes the upload. */
function UploadStep({ one, file, setFile }: UploadStepProps) {
  const [isOther, setOther] = useState(false)
  const { upload } = t.transfer
  if (file === null)
    return (
      <>
        <p>{upload.again({ p: formatNumber(Math.round((100 * one.uploadedBytes) / one.sizeBytes)) })}</p>
        {isOther && <p role="alert">{upload.other({ name: one.fileName })}</p>}
        <DropFile
          label={upload.sameFile({ name: one.fileName })}
          take={(chosen) => {
            const isSame = chosen.name === one.fileName && chosen.size === one.sizeBytes
            setOther(!isSame)
            if (isSame) setFile(chosen)
          }}
        />
      </>
    )
  return <Uploading one={one} file={file} />
}

function Uploading({ one, file }: Omit<UploadStepProps, 'setFile'> & { file: File }) {
  const workspaceId = useWorkspaceId()
  const [error, setError] = useState<unknown>(null)
  const [attempt, setAttempt] = useState(0)
  const { keep } = useImportActions(workspaceId)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per attempt; uploaded parts change the rest
  useEffect(() => {
    const stop = new AbortController()
    setError(null)
    uploadFile(workspaceId, one, file, keep, stop.signal).catch((failure) => {
      if (!stop.signal.aborted) setError(failure)
    })
    return () => stop.abort()
  }, [one.id, attempt])
  const { upload } = t.transfer
  const megabytes = (bytes: number) => formatNumber(bytes / megabyte, { maximumFractionDigits: 1 })
  return (
    <>
      <Progress value={(100 * one.uploadedBytes) / one.sizeBytes} aria-label={upload.label} />
      <p className={styles.muted}>
        {upload.sent({ done: megabytes(one.uploadedBytes), all: megabytes(one.sizeBytes) })}
      </p>
      {error !== null && (
        <div role="alert" className={styles.row}>
          {errorSentence(error)}
          <Button variant="default" onClick={() => setAttempt(attempt + 1)}>
            {t.common.retry}
          </Button>
        </div>
      )}
    </>
  )
}

/** Accepts a dropped or chosen file. */
function DropFile({ take, label = t.transfer.drop }: { take(file: File): void; label?: string }) {
  const [isOver, setOver] = useState(false)
  const [isEmpty, setEmpty] = useState(false)
  const chooseFile = (file: File | null | undefined) => {
    if (file == null) return
    setEmpty(file.size === 0)
    if (file.size > 0) take(file)
  }
  return (
    <section
      className={styles.drop}
      data-over={isOver || undefined}
      aria-label={label}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        chooseFile(event.dataTransfer.files[0])
      }}
    >
      <IconUpload size={28} stroke={1.4} aria-hidden="true" />
      <strong>{label}</strong>
      <p className={styles.muted}>{t.transfer.dropHelp}</p>
      <FileButton onChange={chooseFile} accept=".csv,.tsv,.txt,.ndjson,.jsonl,text/csv,application/x-ndjson">
        {(props) => <Button {...props}>{t.transfer.chooseFile}</Button>}
      </FileButton>
      {isEmpty && <p role="alert">{t.transfer.emptyFile}</p>}
    </section>
  )
}
