import { Button, Select, Switch, TextInput } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
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
import { formatDateTime } from '../ui/format/time.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { Table } from '../ui/page/Table.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useListChange } from '../ui/use-list-change.ts'
import { countries } from './countries.ts'
import styles from './List.module.css'

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
  return (
    <>
      <div className={styles.bar}>
        <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
          {texts.create}
        </Button>
      </div>
      <QueryBoundary query={query}>
        {(workspaces) => (
          <Table
            label={t.settings.sections.workspaces.title}
            rows={workspaces}
            keyOf={({ id }) => id}
            open={({ id }) => void navigate({ to: '/w/$workspaceId/home', params: { workspaceId: id } })}
            columns={[
              { key: 'name', title: texts.name, cell: ({ name }) => name },
              {
                key: 'leads',
                title: texts.leads,
                cell: (one) => (
                  <Switch
                    className={styles.above}
                    aria-label={`${texts.planOf({ name: one.name })}: ${texts.leads}`}
                    checked={one.leadsEnabled}
                    onChange={(event) => plan(one, { leadsEnabled: event.currentTarget.checked })}
                  />
                ),
              },
              {
                key: 'inbox',
                title: texts.inbox,
                cell: (one) => (
                  <Switch
                    className={styles.above}
                    aria-label={`${texts.planOf({ name: one.name })}: ${texts.inbox}`}
                    checked={one.inboxEnabled}
                    onChange={(event) => plan(one, { inboxEnabled: event.currentTarget.checked })}
                  />
                ),
              },
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
  const draft = useDraft({ name: '', defaultCountry: '' })
  const { value, set, errorOf } = draft
  const [choices] = useState(() => [{ value: '', label: t.settings.workspace.noCountry }, ...countries()])
  const create = useMutation({
    mutationFn: () => createWorkspace({ name: value.name.trim(), defaultCountry: value.defaultCountry || null }),
    onSuccess: async ({ name }) => {
      await Promise.all([refreshSession(), queries.invalidateQueries({ queryKey: allWorkspacesKey })])
      showToast(texts.workspaceCreated({ name }))
      close()
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={texts.create}
      close={close}
      submit={() => create.mutate()}
      footer={<PanelButtons close={close} action={t.common.create} isBusy={create.isPending} />}
    >
      <TextInput
        label={texts.name}
        value={value.name}
        maxLength={100}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={errorOf('name')}
        data-autofocus
      />
      <Select
        label={texts.country}
        description={t.settings.workspace.countryHelp}
        data={choices}
        searchable
        allowDeselect={false}
        value={value.defaultCountry}
        onChange={(defaultCountry) => set({ defaultCountry: defaultCountry ?? '' })}
      />
    </SidePanel>
  )
}
