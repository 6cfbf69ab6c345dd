import { Button, Select, TextInput } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { usePeopleLists } from '../../data/people.ts'
import { type AuditFilter, readAllAudit } from '../../data/team/audit.ts'
import { t } from '../../text/index.ts'
import { saveCsv } from '../../ui/csv.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './Audit.module.css'
import { actionText, actorText, type Names, resourceTexts, subjectText } from './audit-texts.ts'
import { edgeOfDay } from './edge-of-day.ts'

interface AuditFiltersProps {
  filter: AuditFilter
  change(to: AuditFilter): void
  names: Names
}

const service = 'system'

/** Filters of the audit log, and export of the matching entries. */
export function AuditFilters({ filter, change, names }: AuditFiltersProps) {
  const texts = t.settings.audit
  const who = useActorOptions()
  const [days, setDays] = useState({ from: '', to: '' })
  const { actorId, actorType, thing, from, to } = filter
  const choose = (changes: { [K in keyof AuditFilter]: AuditFilter[K] | undefined }) =>
    change(withoutEmpty({ actorId, actorType, thing, from, to, ...changes }))
  const chooseDay = (edge: 'from' | 'to', day: string) => {
    setDays({ ...days, [edge]: day })
    choose({ [edge]: edgeOfDay(day, edge) ?? undefined })
  }
  return (
    <search className={styles.filters} aria-label={texts.filters}>
      <Select
        label={texts.who}
        placeholder={texts.anyone}
        data={who}
        value={actorType === service ? service : (actorId ?? null)}
        onChange={(id) =>
          choose(
            id === service
              ? { actorType: service, actorId: undefined }
              : { actorType: undefined, actorId: id ?? undefined },
          )
        }
        searchable
        clearable
      />
      <Select
        label={texts.what}
        placeholder={texts.anything}
        data={resourceTexts()}
        value={thing ?? null}
        onChange={(chosen) => choose({ thing: chosen ?? undefined })}
        searchable
        clearable
      />
      {(['from', 'to'] as const).map((edge) => (
        <TextInput
          key={edge}
          type="date"
          label={texts[edge]}
          value={days[edge]}
          onChange={(event) => chooseDay(edge, event.currentTarget.value)}
        />
      ))}
      <CsvButton filter={filter} names={names} />
    </search>
  )
}

function CsvButton({ filter, names }: Omit<AuditFiltersProps, 'change'>) {
  const texts = t.settings.audit
  const workspaceId = useWorkspaceId()
  const save = useMutation({
    mutationFn: () => readAllAudit(workspaceId, filter),
    onSuccess: (entries) => {
      const rows = entries.map((entry) => [
        entry.at,
        actorText(entry, names),
        actionText(entry),
        subjectText(entry, names),
        entry.action,
        entry.target ?? '',
      ])
      saveCsv(texts.file, [[texts.when, texts.who, texts.what, texts.about, texts.code, texts.target], ...rows])
    },
    onError: showError,
  })
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={16} />}
      loading={save.isPending}
      onClick={() => save.mutate()}
    >
      {texts.csv}
    </Button>
  )
}

/** Lists people first, then programs, then the system. */
function useActorOptions(): { group: string; items: { value: string; label: string }[] }[] {
  const texts = t.settings.audit
  const { data } = usePeopleLists(useWorkspaceId())
  const { members = [], keys = [], tokens = [] } = data ?? {}
  const items = (named: readonly { id: string; name: string }[]) =>
    named.map(({ id, name }) => ({ value: id, label: name }))
  return [
    { group: texts.people, items: items(members) },
    { group: texts.programs, items: [...items(keys), ...items(tokens), { value: service, label: texts.service }] },
  ].filter((one) => one.items.length > 0)
}

function withoutEmpty(filter: { [K in keyof AuditFilter]: AuditFilter[K] | undefined }): AuditFilter {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
}
