import { ActionIcon, Button, Checkbox, Group, Switch, TextInput } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import {
  createFilter,
  deleteFilter,
  type SavedFilter,
  savedFiltersKey,
  useSavedFiltersOf,
} from '../data/saved-filters.ts'
import { setReportMail, useReportMails } from '../data/team/reports.ts'
import { hasRole, useSession } from '../session/session.ts'
import { t } from '../text/index.ts'
import styles from '../ui/charts/Dashboard.module.css'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { queryOf, type ReportSearch, searchOf } from './search.ts'

/** Saved reports: opens them, saves the present one, and mails them every week. */
export function SavedReports({ search, show }: { search: ReportSearch; show(search: ReportSearch): void }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const saved = useSavedFiltersOf('reports', workspaceId)
  const columns = useColumns()
  const [isNaming, setNaming] = useState(false)
  const texts = t.reports.saved
  const save = async (name: string, shared: boolean) => {
    try {
      // A report without choices is the one of all conversations.
      await createFilter(workspaceId, { page: 'reports', name, query: queryOf(search), shared })
      setNaming(false)
      showToast(texts.done({ name }))
    } catch (error) {
      showError(error)
    }
    await queries.invalidateQueries({ queryKey: savedFiltersKey(workspaceId) })
  }
  return (
    <section className={styles.card} aria-label={texts.title}>
      <div className={styles.head}>
        <h2 className={styles.title}>{texts.title}</h2>
        {!isNaming && (
          <Button variant="default" size="xs" onClick={() => setNaming(true)}>
            {texts.save}
          </Button>
        )}
      </div>
      {isNaming && <NameForm mayShare={hasRole(workspaceId, 'admin')} save={save} cancel={() => setNaming(false)} />}
      {saved.length === 0 ? (
        <p className={styles.muted}>{texts.empty}</p>
      ) : (
        <Table
          label={texts.title}
          columns={columns}
          rows={saved}
          keyOf={({ id }) => id}
          open={({ query }) => show(searchOf(query))}
        />
      )}
    </section>
  )
}

function useColumns(): Column<SavedFilter>[] {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const mailed = useReportMails(workspaceId)
  const { sendsMail } = useSession()
  const texts = t.reports.saved
  const remove = ({ id, name }: SavedFilter) =>
    deleteFilter(workspaceId, id).then(() => {
      showToast(texts.deleted({ name }))
      void queries.invalidateQueries({ queryKey: savedFiltersKey(workspaceId) })
    }, showError)
  const mail: Column<SavedFilter> = {
    key: 'mail',
    title: texts.weekly,
    cell: ({ id, name }) => (
      <Switch
        size="xs"
        aria-label={texts.mail({ name })}
        checked={mailed.includes(id)}
        onChange={(event) => void setReportMail(queries, workspaceId, id, event.currentTarget.checked).catch(showError)}
      />
    ),
  }
  return [
    { key: 'name', title: t.reports.name, cell: ({ name }) => name },
    { key: 'whose', title: texts.whose, optional: true, cell: ({ shared }) => (shared ? texts.shared : texts.own) },
    ...(sendsMail ? [mail] : []),
    {
      key: 'actions',
      title: '',
      numeric: true,
      cell: (filter) =>
        (!filter.shared || hasRole(workspaceId, 'admin')) && (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={texts.delete({ name: filter.name })}
            onClick={() => void remove(filter)}
          >
            <IconTrash size={16} />
          </ActionIcon>
        ),
    },
  ]
}

interface NameFormProps {
  mayShare: boolean
  save(name: string, shared: boolean): Promise<void>
  cancel(): void
}

function NameForm({ mayShare, save, cancel }: NameFormProps) {
  const [name, setName] = useState('')
  const [shared, setShared] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() !== '') void save(name.trim(), shared)
  }
  return (
    <form noValidate onSubmit={submit}>
      <Group gap="sm" align="end" mb="md">
        <TextInput
          label={t.reports.name}
          value={name}
          maxLength={80}
          autoFocus
          onKeyDown={(event) => event.key === 'Escape' && cancel()}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {mayShare && (
          <Checkbox
            label={t.reports.saved.share}
            checked={shared}
            onChange={(event) => setShared(event.currentTarget.checked)}
          />
        )}
        <Button type="submit" disabled={name.trim() === ''}>
          {t.common.save}
        </Button>
        <Button variant="default" onClick={cancel}>
          {t.common.cancel}
        </Button>
      </Group>
    </form>
  )
}
