import { Button, Group, Select } from '@mantine/core'
import { IconPlus, IconUpload } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useDeferredValue, useMemo, useState } from 'react'
import {
  type ArticleDraft,
  type ArticleFilters,
  type ArticleHead,
  articleKinds,
  articleStatuses,
  useArticleDrafts,
  useArticles,
} from '../data/team/knowledge.ts'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { languageName } from '../ui/format/language-name.ts'
import { timeAgo } from '../ui/format/time.ts'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { ErrorState } from '../ui/page/ErrorState.tsx'
import { PageBody } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { SearchField } from '../ui/page/SearchField.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useShortcuts } from '../ui/shortcuts.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { languageCodes, StatusChip } from './article-parts.tsx'
import { ImportPanel } from './ImportPanel.tsx'
import styles from './Knowledge.module.css'

/** What the business knows: articles and answers, with a search, and drafts made of conversations. */
export function KnowledgePage() {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const texts = t.knowledge
  const [isImporting, setImporting] = useState(false)
  const create = useCallback(
    () => void navigate({ to: '/w/$workspaceId/knowledge/$articleId', params: { workspaceId, articleId: 'new' } }),
    [navigate, workspaceId],
  )
  useShortcuts(
    texts.title,
    useMemo(() => [{ keys: 'c', label: t.knowledge.create, run: create }], [create]),
  )
  return (
    <>
      <PageHeader
        title={texts.title}
        action={
          <Group gap="sm" wrap="nowrap">
            <Button variant="default" leftSection={<IconUpload size={16} />} onClick={() => setImporting(true)}>
              {texts.import.action}
            </Button>
            <Button leftSection={<IconPlus size={16} />} onClick={create}>
              {texts.create}
            </Button>
          </Group>
        }
      />
      <PageBody>
        <Drafts />
        <Articles create={create} />
      </PageBody>
      {isImporting && <ImportPanel close={() => setImporting(false)} />}
    </>
  )
}

function Drafts() {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const { data: drafts = [] } = useArticleDrafts(workspaceId)
  const texts = t.knowledge.drafts
  if (drafts.length === 0) return null
  const open = ({ id: draftId }: ArticleDraft) =>
    void navigate({ to: '/w/$workspaceId/knowledge/drafts/$draftId', params: { workspaceId, draftId } })
  return (
    <section className={styles.section} aria-label={texts.title}>
      <h2>{texts.title}</h2>
      <Table
        label={texts.title}
        rows={drafts}
        keyOf={({ id }) => id}
        open={open}
        columns={[
          { key: 'title', title: t.knowledge.fields.title, cell: ({ title }) => title },
          {
            key: 'created',
            title: t.knowledge.columns.created,
            cell: ({ createdAt }) => timeAgo(createdAt),
            whole: true,
          },
        ]}
      />
    </section>
  )
}

function Articles({ create }: { create(): void }) {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const texts = t.knowledge
  const [words, setWords] = useState('')
  const [filters, setFilters] = useState<ArticleFilters>({})
  const query = useArticles(workspaceId, useDeferredValue(words.trim()), filters)
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = query
  const rows = data?.pages.flatMap(({ articles }) => articles) ?? []
  const isFiltered = words.trim() !== '' || Object.keys(filters).length > 0
  const open = ({ id: articleId }: ArticleHead) =>
    void navigate({ to: '/w/$workspaceId/knowledge/$articleId', params: { workspaceId, articleId } })
  if (error !== null && data === undefined) return <ErrorState error={error} retry={() => void refetch()} />
  if (data !== undefined && rows.length === 0 && !isFiltered) {
    return <EmptyState title={texts.empty} help={texts.emptyHelp} action={{ label: texts.create, run: create }} />
  }
  const clear = () => {
    setWords('')
    setFilters({})
  }
  return (
    <section className={styles.section} aria-label={texts.title} aria-busy={query.isFetching || undefined}>
      <Filters words={words} setWords={setWords} filters={filters} setFilters={setFilters} clear={clear} />
      {data !== undefined && rows.length === 0 ? (
        <EmptyState title={texts.notFound} action={{ label: texts.clear, run: clear }} />
      ) : (
        <Table label={texts.title} rows={rows} keyOf={({ id }) => id} open={open} columns={columns()} />
      )}
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {texts.more}
        </Button>
      )}
    </section>
  )
}

function columns(): Column<ArticleHead>[] {
  const { columns: titles, fields, kinds } = t.knowledge
  return [
    {
      key: 'title',
      title: fields.title,
      cell: ({ title, tags }) => (
        <span className={styles.name}>
          <bdi>{title}</bdi>
          {tags.slice(0, 3).map((tag) => (
            <Chip key={tag}>{tag}</Chip>
          ))}
        </span>
      ),
    },
    { key: 'status', title: titles.status, cell: (article) => <StatusChip article={article} />, whole: true },
    { key: 'kind', title: fields.kind, cell: ({ kind }) => kinds[kind], optional: true },
    { key: 'language', title: fields.language, cell: ({ language }) => languageName(language), optional: true },
    { key: 'changed', title: titles.changed, cell: ({ updatedAt }) => timeAgo(updatedAt), optional: true, whole: true },
  ]
}

interface FiltersProps {
  words: string
  setWords(words: string): void
  filters: ArticleFilters
  setFilters(filters: ArticleFilters): void
  clear(): void
}

function Filters({ words, setWords, filters, setFilters, clear }: FiltersProps) {
  const texts = t.knowledge
  const choice = (name: keyof ArticleFilters, label: string, data: { value: string; label: string }[]) => (
    <Select
      aria-label={label}
      size="xs"
      w={150}
      placeholder={texts.any({ what: label })}
      clearable
      data={data}
      value={filters[name] ?? null}
      onChange={(value) => {
        const { [name]: _, ...others } = filters
        setFilters(value === null ? others : { ...others, [name]: value })
      }}
    />
  )
  return (
    <search className={styles.filters}>
      <SearchField
        aria-label={texts.search}
        placeholder={texts.search}
        value={words}
        maxLength={500}
        end={words === '' ? null : { label: texts.clear, run: clear }}
        onChange={({ currentTarget }) => setWords(currentTarget.value)}
        isSmall
      />
      {choice(
        'status',
        texts.columns.status,
        articleStatuses.map((value) => ({ value, label: texts.statuses[value] })),
      )}
      {choice(
        'kind',
        texts.fields.kind,
        articleKinds.map((value) => ({ value, label: texts.kinds[value] })),
      )}
      {choice(
        'language',
        texts.fields.language,
        languageCodes(filters.language).map((value) => ({ value, label: languageName(value) })),
      )}
    </search>
  )
}
