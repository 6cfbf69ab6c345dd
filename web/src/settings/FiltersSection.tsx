import { Group, TextInput } from '@mantine/core'
import { IconPencil, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import {
  createFilter,
  deleteFilter,
  renameFilter,
  type SavedFilter,
  savedFiltersKey,
  useSavedFilters,
} from '../data/saved-filters.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Dialog } from '../ui/overlay/Dialog.tsx'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { Table } from '../ui/page/Table.tsx'
import { useListChange } from '../ui/use-list-change.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './List.module.css'
import { RowButton } from './parts/RowButton.tsx'
import { useRemoval } from './parts/use-removal.ts'

export function FiltersSection() {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.filters
  const query = useSavedFilters(workspaceId)
  const queryKey = savedFiltersKey(workspaceId)
  const change = useListChange<SavedFilter>(queryKey)
  const [renaming, setRenaming] = useState<SavedFilter | null>(null)
  const mayChange = ({ shared }: SavedFilter) => !shared || hasRole(workspaceId, 'admin')

  const remove = useRemoval<SavedFilter>(queryKey, {
    remove: ({ id }) => deleteFilter(workspaceId, id),
    restore: (filter) => createFilter(workspaceId, filter),
    done: ({ name }) => texts.deleted({ name }),
  })
  const rename = (filter: SavedFilter, name: string) => {
    setRenaming(null)
    void change(
      (list) => list.map((one) => (one.id === filter.id ? { ...one, name } : one)),
      () => renameFilter(workspaceId, filter.id, name),
    )
  }
  return (
    <>
      <QueryBoundary query={query}>
        {(filters) =>
          filters.length === 0 ? (
            <EmptyState title={texts.empty} />
          ) : (
            <Table
              label={t.settings.sections.filters.title}
              rows={filters}
              keyOf={({ id }) => id}
              columns={[
                { key: 'name', title: texts.name, cell: ({ name }) => <strong>{name}</strong> },
                { key: 'page', title: texts.page, cell: ({ page }) => texts.pages[page] },
                { key: 'whose', title: texts.whose, cell: ({ shared }) => (shared ? texts.shared : texts.own) },
                {
                  key: 'actions',
                  title: '',
                  numeric: true,
                  cell: (filter) =>
                    mayChange(filter) && (
                      <span className={styles.actions}>
                        <RowButton
                          label={texts.rename({ name: filter.name })}
                          icon={IconPencil}
                          run={() => setRenaming(filter)}
                        />
                        <RowButton
                          label={texts.deleteOf({ name: filter.name })}
                          icon={IconTrash}
                          run={() => void remove(filter)}
                        />
                      </span>
                    ),
                },
              ]}
            />
          )
        }
      </QueryBoundary>
      {renaming !== null && (
        <Rename filter={renaming} close={() => setRenaming(null)} run={(name) => rename(renaming, name)} />
      )}
    </>
  )
}

function Rename({ filter, close, run }: { filter: SavedFilter; close(): void; run(name: string): void }) {
  const [name, setName] = useState(filter.name)
  return (
    <Dialog close={close} title={t.settings.filters.renameTitle}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (name.trim() !== '') run(name.trim())
        }}
      >
        <TextInput
          label={t.settings.filters.name}
          value={name}
          maxLength={80}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        <Group justify="flex-end" mt="lg" gap="xs">
          <PanelButtons close={close} action={t.common.save} isBusy={false} disabled={name.trim() === ''} />
        </Group>
      </form>
    </Dialog>
  )
}
