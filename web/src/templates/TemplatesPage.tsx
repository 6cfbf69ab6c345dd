import { Button, Menu, Select, Skeleton } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type Connection, useConnections } from '../data/connections.ts'
import {
  beginDraft,
  type DraftStart,
  type ListedTemplate,
  type TemplateDraft,
  useAllTemplates,
  useLiveDrafts,
  useTemplateDrafts,
} from '../data/team/templates.ts'
import { hasRole } from '../session/session.ts'
import { language, t } from '../text/index.ts'
import { languageName } from '../ui/format/language-name.ts'
import { timeAgo } from '../ui/format/time.ts'
import { showError } from '../ui/overlay/toasts.tsx'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { ErrorState } from '../ui/page/ErrorState.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { SearchField } from '../ui/page/SearchField.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useShortcut } from '../ui/shortcuts.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { TemplatePanel } from './TemplatePanel.tsx'
import styles from './TemplatesPage.module.css'
import { categoryText, QualityChip, StatusChip, statusText } from './template-chips.tsx'
import { filterTemplates, isFiltered, noFilters, type TemplateFilters, valuesOf } from './template-filters.ts'

/** Templates of all numbers, and those that are being written. */
export function TemplatesPage() {
  const workspaceId = useWorkspaceId()
  const query = useConnections(workspaceId)
  const mayWrite = hasRole(workspaceId, 'admin')
  const begin = useBegin()
  // Only numbers of the official platform: partners have their own editor.
  const writable = (query.data ?? []).filter(({ channel }) => channel === 'waba')
  return (
    <>
      <PageHeader
        title={t.templates.title}
        action={
          mayWrite &&
          writable.length > 0 && <CreateButton connections={writable} begin={begin.mutate} isBusy={begin.isPending} />
        }
      />
      <PageBody>
        <QueryBoundary query={query}>
          {(all) => {
            const connections = all.filter(({ channel }) => channel === 'waba' || channel === 'partner')
            if (connections.length === 0) return <NoConnection />
            return (
              <>
                {mayWrite && <Drafts />}
                <Templates connections={connections} begin={begin.mutate} />
              </>
            )
          }}
        </QueryBoundary>
      </PageBody>
    </>
  )
}

type Begin = (start: DraftStart) => void

/** Languages of the platform for those of the app. */
const ownLanguages = { en: 'en_US', pt: 'pt_BR', es: 'es' } as const satisfies Record<typeof language, string>

/** Creates a draft and opens it. */
function useBegin() {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (start: DraftStart) => beginDraft(queries, workspaceId, { language: ownLanguages[language], ...start }),
    onSuccess: ({ id }) => navigate({ to: '/w/$workspaceId/templates/$draftId', params: { workspaceId, draftId: id } }),
    onError: showError,
  })
}

interface CreateButtonProps {
  connections: readonly Connection[]
  begin: Begin
  isBusy: boolean
}

function CreateButton({ connections, begin, isBusy }: CreateButtonProps) {
  const { create } = t.templates
  const [isOpen, setOpen] = useState(false)
  const [only, ...others] = connections
  const start = () => (only !== undefined && others.length === 0 ? begin({ connectionId: only.id }) : setOpen(true))
  useShortcut(t.templates.title, { keys: 'c', label: create, run: start })
  if (others.length === 0) {
    return (
      <Button leftSection={<IconPlus size={16} />} loading={isBusy} onClick={start}>
        {create}
      </Button>
    )
  }
  return (
    <Menu position="bottom-end" opened={isOpen} onChange={setOpen}>
      <Menu.Target>
        <Button leftSection={<IconPlus size={16} />} loading={isBusy}>
          {create}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {connections.map(({ id, name }) => (
          <Menu.Item key={id} onClick={() => begin({ connectionId: id })}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function NoConnection() {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const run = () => void navigate({ to: '/w/$workspaceId/connections', params: { workspaceId } })
  const { noConnection, noConnectionHelp } = t.templates
  return <EmptyState title={noConnection} help={noConnectionHelp} action={{ label: t.start.connections, run }} />
}

function Drafts() {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  useLiveDrafts(workspaceId)
  const drafts = useTemplateDrafts(workspaceId, true).data?.drafts ?? []
  if (drafts.length === 0) return null
  const open = ({ id: draftId }: TemplateDraft) =>
    void navigate({ to: '/w/$workspaceId/templates/$draftId', params: { workspaceId, draftId } })
  return (
    <section className={styles.section} aria-label={t.templates.drafts}>
      <h2>{t.templates.drafts}</h2>
      <Table label={t.templates.drafts} columns={draftColumns()} rows={drafts} keyOf={({ id }) => id} open={open} />
    </section>
  )
}

function draftColumns(): Column<TemplateDraft>[] {
  const { columns, unnamed, draftKinds } = t.templates
  return [
    { key: 'name', title: columns.name, cell: ({ content }) => content.name || unnamed },
    {
      key: 'kind',
      title: columns.kind,
      cell: ({ templateId }) => (templateId === null ? draftKinds.new : draftKinds.change),
    },
    { key: 'language', title: columns.language, cell: ({ content }) => languageName(content.language), optional: true },
    { key: 'changed', title: columns.changed, cell: ({ updatedAt }) => timeAgo(updatedAt), optional: true },
  ]
}

function Templates({ connections, begin }: { connections: readonly Connection[]; begin: Begin }) {
  const workspaceId = useWorkspaceId()
  const { templates, isPending, error, refetch } = useAllTemplates(workspaceId, connections)
  const [filters, setFilters] = useState(noFilters)
  const [openedId, setOpenedId] = useState<string | null>(null)
  const opened = templates.find(({ id }) => id === openedId)
  const rows = filterTemplates(templates, filters)
  const nameOf = (id: string) => connections.find((one) => one.id === id)?.name ?? ''
  if (error !== null && templates.length === 0) return <ErrorState error={error} retry={refetch} />
  if (isPending && templates.length === 0) return <Skeleton height={240} aria-busy="true" />
  if (templates.length === 0) return <EmptyState title={t.templates.empty} help={t.templates.emptyHelp} />
  return (
    <section className={styles.section} aria-label={t.templates.title} aria-busy={isPending || undefined}>
      <Filters all={templates} connections={connections} filters={filters} set={setFilters} />
      {rows.length === 0 && !isPending ? (
        <EmptyState
          title={t.templates.notFound}
          {...(isFiltered(filters) && { action: { label: t.templates.clear, run: () => setFilters(noFilters) } })}
        />
      ) : (
        <Table
          label={t.templates.title}
          columns={columns(connections.length > 1 ? nameOf : null)}
          rows={rows}
          keyOf={({ id }) => id}
          open={({ id }) => setOpenedId(id)}
        />
      )}
      {opened !== undefined && (
        <TemplatePanel
          template={opened}
          isWritable={connections.some(({ id, channel }) => id === opened.connectionId && channel === 'waba')}
          begin={begin}
          close={() => setOpenedId(null)}
        />
      )}
    </section>
  )
}

function columns(nameOf: ((id: string) => string) | null): Column<ListedTemplate>[] {
  const titles = t.templates.columns
  return [
    { key: 'name', title: titles.name, cell: ({ name }) => name },
    { key: 'status', title: titles.status, cell: ({ status }) => <StatusChip status={status} /> },
    { key: 'language', title: titles.language, cell: ({ language }) => languageName(language) },
    { key: 'category', title: titles.category, cell: ({ category }) => categoryText(category), optional: true },
    {
      key: 'quality',
      title: titles.quality,
      cell: ({ quality }) => <QualityChip quality={quality} />,
      optional: true,
    },
    ...(nameOf === null
      ? []
      : [
          {
            key: 'number',
            title: titles.number,
            cell: ({ connectionId }: ListedTemplate) => nameOf(connectionId),
            optional: true,
          },
        ]),
  ]
}

interface FiltersProps {
  all: readonly ListedTemplate[]
  connections: readonly Connection[]
  filters: TemplateFilters
  set(filters: TemplateFilters): void
}

function Filters({ all, connections, filters, set }: FiltersProps) {
  const { search, columns: titles, any } = t.templates
  const choice = (field: keyof TemplateFilters, label: string, data: { value: string; label: string }[]) => (
    <Select
      aria-label={label}
      size="xs"
      w={150}
      placeholder={any({ what: label })}
      clearable
      data={data}
      value={filters[field] || null}
      onChange={(value) => set({ ...filters, [field]: value ?? '' })}
    />
  )
  const named = (field: 'status' | 'category' | 'language', text: (value: string) => string) =>
    valuesOf(all, field).map((value) => ({ value, label: text(value) }))
  return (
    <search className={styles.filters}>
      <SearchField
        aria-label={search}
        placeholder={search}
        value={filters.term}
        end={filters.term === '' ? null : { label: t.templates.clear, run: () => set({ ...filters, term: '' }) }}
        onChange={({ currentTarget }) => set({ ...filters, term: currentTarget.value })}
        isSmall
      />
      {choice('status', titles.status, named('status', statusText))}
      {choice('category', titles.category, named('category', categoryText))}
      {choice('language', titles.language, named('language', languageName))}
      {connections.length > 1 &&
        choice(
          'connectionId',
          titles.number,
          connections.map(({ id, name }) => ({ value: id, label: name })),
        )}
    </search>
  )
}
