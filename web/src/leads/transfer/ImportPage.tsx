import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { useImportActions, useImports, useLiveImports } from '../../data/imports.ts'
import { hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { BackLink } from '../../ui/page/BackLink.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { PageBody, QueryBoundary } from '../../ui/page/PageBody.tsx'
import { PageHeader } from '../../ui/page/PageHeader.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { DropFile } from './DropFile.tsx'
import { ImportStep } from './ImportStep.tsx'
import { PastImports } from './PastImports.tsx'
import { formatOf } from './upload.ts'

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
      <PageBody narrow>{mayImport ? <Import id={id} /> : <ErrorState error={new ApiError(403, '')} />}</PageBody>
    </>
  )
}

function Import({ id }: { id: string | undefined }) {
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
