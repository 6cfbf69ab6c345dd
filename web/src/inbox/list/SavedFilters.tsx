import { Button, Checkbox, Group, TextInput } from '@mantine/core'
import { IconTrash, IconUsers } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import {
  createFilter,
  deleteFilter,
  type SavedFilter,
  savedFiltersKey,
  useSavedFiltersOf,
} from '../../data/saved-filters.ts'
import { hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { IconButton } from '../parts/IconButton.tsx'
import { type FilterProps, queryOf, searchOf } from './filters.ts'
import styles from './ListPane.module.css'

export function SavedFilters({ search, filterBy }: FilterProps) {
  const workspaceId = useWorkspaceId()
  const saved = useSavedFiltersOf('inbox', workspaceId)
  const queries = useQueryClient()
  const [isNaming, setNaming] = useState(false)
  const here = useRef<HTMLDivElement>(null)
  const query = queryOf(search)
  const changed = () => queries.invalidateQueries({ queryKey: savedFiltersKey(workspaceId) })
  const remove = ({ id, name }: SavedFilter) =>
    deleteFilter(workspaceId, id).then(() => {
      showToast(t.inbox.saved.deleted({ name }))
      void changed()
    }, showError)
  const isNew = query !== '' && !saved.some((one) => one.query === query)
  const mayShare = hasRole(workspaceId, 'admin')
  return (
    <div ref={here} tabIndex={-1} className={styles.panel}>
      {saved.length > 0 && <h2 className={styles.savedTitle}>{t.inbox.saved.title}</h2>}
      {saved.map((one) => (
        <div key={one.id} className={styles.saved}>
          <button type="button" className={styles.savedName} onClick={() => filterBy(() => searchOf(one.query))}>
            {one.name}
          </button>
          {one.shared && <IconUsers size={14} aria-label={t.inbox.saved.shared} />}
          {(!one.shared || mayShare) && (
            <IconButton
              icon={IconTrash}
              iconSize={14}
              size="sm"
              label={t.inbox.saved.delete({ name: one.name })}
              title={undefined}
              onClick={() => void remove(one)}
            />
          )}
        </div>
      ))}
      {isNaming ? (
        <NameForm
          mayShare={mayShare}
          save={(name, shared) =>
            createFilter(workspaceId, { page: 'inbox', name, query, shared }).then(() => {
              setNaming(false)
              // The focused field is gone.
              here.current?.focus()
              void changed()
            }, showError)
          }
        />
      ) : (
        isNew && (
          <Button variant="default" size="xs" onClick={() => setNaming(true)}>
            {t.inbox.saved.save}
          </Button>
        )
      )}
    </div>
  )
}

function NameForm({ mayShare, save }: { mayShare: boolean; save(name: string, shared: boolean): Promise<void> }) {
  const [name, setName] = useState('')
  const [isShared, setShared] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() !== '') void save(name.trim(), isShared)
  }
  return (
    <form onSubmit={submit} className={styles.panel} noValidate>
      <TextInput
        size="xs"
        label={t.inbox.saved.name}
        autoFocus
        maxLength={80}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Group justify="space-between">
        {mayShare && (
          <Checkbox
            size="xs"
            label={t.inbox.saved.shared}
            checked={isShared}
            onChange={(event) => setShared(event.currentTarget.checked)}
          />
        )}
        <Button type="submit" size="xs" disabled={name.trim() === ''}>
          {t.common.save}
        </Button>
      </Group>
    </form>
  )
}
