import { Button, Checkbox, Select } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { type Import, type Matcher, type Preview, type Reading, useImportActs, usePreview } from '../../data/imports.ts'
import { t } from '../../text/index.ts'
import { complain } from '../../ui/overlay/notices.tsx'
import { Loaded } from '../../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { ColumnMapping } from './ColumnMapping.tsx'
import { choose, type Mapping, mappingOf, matchersOf } from './mapping.ts'
import styles from './transfer.module.css'

/** What each column of the file becomes, and by what a row finds its lead; then a try, or the import itself. */
export function MappingStep({ one }: { one: Import }) {
  const workspaceId = useWorkspaceId()
  const before = one.choice as Choice | null
  const [reading, setReading] = useState<Partial<Reading>>(before === null ? {} : readingOf(before))
  const query = usePreview(workspaceId, one.id, reading)
  return (
    <Loaded query={query}>
      {(preview) => (
        <MappingForm
          one={one}
          preview={preview}
          before={before}
          read={(changes) => setReading({ ...reading, ...changes })}
        />
      )}
    </Loaded>
  )
}

interface Choice extends Reading {
  match: Matcher
  createIfMissing: boolean
  emptyCells: 'keep' | 'clear'
  columns: { name: string; target: string | null }[]
}

interface MappingFormProps {
  one: Import
  preview: Preview
  /** What was chosen for the try before. */
  before: Choice | null
  read(changes: Partial<Reading>): void
}

function MappingForm({ one, preview, before, read }: MappingFormProps) {
  const workspaceId = useWorkspaceId()
  const [chosen, setChosen] = useState<Mapping>(
    () => new Map(before?.columns.map(({ name, target }) => [name, target])),
  )
  const [match, setMatch] = useState<Matcher | null>(before?.match ?? null)
  const [onlyKnown, setOnlyKnown] = useState(before?.createIfMissing === false)
  const [clears, setClears] = useState(before?.emptyCells === 'clear')
  const { start } = useImportActs(workspaceId)
  const { mapping: texts } = t.transfer
  const mapping = mappingOf(preview, chosen)
  const matchers = matchersOf(one.format, mapping)
  const by = match !== null && matchers.includes(match) ? match : (matchers[0] ?? 'none')
  const { encoding, delimiter } = preview
  const run = useMutation({
    mutationFn: (dryRun: boolean) =>
      start(one.id, {
        match: by,
        dryRun,
        encoding,
        createIfMissing: !onlyKnown,
        ...(one.format === 'csv' && {
          delimiter,
          emptyCells: clears ? ('clear' as const) : ('keep' as const),
          mapping: Object.fromEntries(mapping),
        }),
      }),
    onError: complain,
  })
  return (
    <>
      <section className={styles.card} aria-label={texts.title}>
        <strong>{texts.title}</strong>
        <FileReading format={one.format} preview={preview} read={read} />
        {one.format === 'csv' ? (
          <ColumnMapping
            preview={preview}
            mapping={mapping}
            set={(column, target) => setChosen(choose(chosen, column, target))}
          />
        ) : (
          <pre className={styles.lines}>{preview.rows.map((cells) => cells.join(' ')).join('\n')}</pre>
        )}
      </section>
      <section className={styles.card} aria-label={texts.rules}>
        <strong>{texts.rules}</strong>
        <Select
          label={texts.match}
          description={texts.matchHelp}
          data={matchers.map((value) => ({ value, label: texts.matchers[value] }))}
          value={by}
          onChange={(value) => setMatch(value as Matcher)}
          allowDeselect={false}
        />
        <Checkbox
          label={texts.onlyKnown}
          checked={onlyKnown}
          onChange={(event) => setOnlyKnown(event.currentTarget.checked)}
        />
        {one.format === 'csv' && (
          <Checkbox
            label={texts.clears}
            checked={clears}
            onChange={(event) => setClears(event.currentTarget.checked)}
          />
        )}
      </section>
      <div className={styles.end}>
        <Button variant="default" onClick={() => run.mutate(true)} loading={run.isPending}>
          {texts.tryFirst}
        </Button>
        <Button onClick={() => run.mutate(false)} loading={run.isPending}>
          {texts.start}
        </Button>
      </div>
    </>
  )
}

const readingOf = ({ encoding, delimiter }: Choice): Reading => ({ encoding, delimiter })

function FileReading({ format, preview, read }: Pick<MappingFormProps, 'preview' | 'read'> & Pick<Import, 'format'>) {
  const { mapping: texts } = t.transfer
  return (
    <div className={styles.row}>
      <Select
        label={texts.encoding}
        data={[
          { value: 'utf-8', label: 'UTF-8' },
          { value: 'windows-1252', label: 'Windows-1252, Latin-1' },
        ]}
        value={preview.encoding}
        onChange={(value) => read({ encoding: value as Reading['encoding'] })}
        allowDeselect={false}
      />
      {format === 'csv' && (
        <Select
          label={texts.delimiter}
          data={[
            { value: ',', label: texts.comma },
            { value: ';', label: texts.semicolon },
            { value: '\t', label: texts.tab },
          ]}
          value={preview.delimiter}
          onChange={(value) => read({ delimiter: value as Reading['delimiter'] })}
          allowDeselect={false}
        />
      )}
    </div>
  )
}
