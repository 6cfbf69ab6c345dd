import { Switch, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import {
  allWorkspacesKey,
  changeWorkspace,
  createWorkspace,
  useAllWorkspaces,
  type Workspace,
} from '../data/workspace.ts'
import { refreshSession } from '../session/session.ts'
import { t } from '../text/index.ts'
import { textField, useSave } from '../ui/draft-fields.ts'
import { formatDateTime } from '../ui/format/time.ts'
import { showToast } from '../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useListChange } from '../ui/use-list-change.ts'
import { EditPanel } from './draft/EditPanel.tsx'
import styles from './List.module.css'
import { CountrySelect } from './parts/CountrySelect.tsx'
import { AddBar } from './parts/ItemList.tsx'

/** All workspaces of the installation and their features. For operators. */
export function WorkspacesSection() {
  const texts = t.settings.workspaces
  const query = useAllWorkspaces()
  const navigate = useNavigate()
  const change = useListChange<Workspace>(allWorkspacesKey)
  const [isCreating, setCreating] = useState(false)
  const plan = ({ id }: Workspace, patch: { leadsEnabled?: boolean; inboxEnabled?: boolean }) =>
    void change(
      (list) => list.map((one) => (one.id === id ? { ...one, ...patch } : one)),
      () => changeWorkspace(id, patch),
    )
  const planColumn = (key: 'leads' | 'inbox', field: 'leadsEnabled' | 'inboxEnabled'): Column<Workspace> => ({
    key,
    title: texts[key],
    cell: (one) => (
      <Switch
        className={styles.above}
        aria-label={`${texts.planOf({ name: one.name })}: ${texts[key]}`}
        checked={one[field]}
        onChange={(event) => plan(one, { [field]: event.currentTarget.checked })}
      />
    ),
  })
  return (
    <>
      <AddBar label={texts.create} run={() => setCreating(true)} />
      <QueryBoundary query={query}>
        {(workspaces) => (
          <Table
            label={t.settings.sections.workspaces.title}
            rows={workspaces}
            keyOf={({ id }) => id}
            open={({ id }) => void navigate({ to: '/w/$workspaceId/home', params: { workspaceId: id } })}
            columns={[
              { key: 'name', title: texts.name, cell: ({ name }) => name },
              planColumn('leads', 'leadsEnabled'),
              planColumn('inbox', 'inboxEnabled'),
              {
                key: 'created',
                title: texts.created,
                cell: ({ createdAt }) => formatDateTime(createdAt),
                optional: true,
                whole: true,
              },
            ]}
          />
        )}
      </QueryBoundary>
      {isCreating && <NewWorkspacePanel close={() => setCreating(false)} />}
    </>
  )
}

function NewWorkspacePanel({ close }: { close(): void }) {
  const texts = t.settings.workspaces
  const queries = useQueryClient()
  const draft = useDraft({ name: '', defaultCountry: null as string | null })
  const { name, defaultCountry } = draft.value
  const save = useSave(
    draft,
    () => createWorkspace({ name: name.trim(), defaultCountry }),
    async (created) => {
      await Promise.all([refreshSession(), queries.invalidateQueries({ queryKey: allWorkspacesKey })])
      showToast(texts.workspaceCreated({ name: created.name }))
      close()
    },
  )
  return (
    <EditPanel title={texts.create} close={close} save={save} action={t.common.create}>
      <TextInput label={texts.name} {...textField(draft, 'name')} maxLength={100} data-autofocus />
      <CountrySelect
        label={texts.country}
        value={defaultCountry}
        change={(country) => draft.set({ defaultCountry: country })}
      />
    </EditPanel>
  )
}
