import { Button, Checkbox, Select } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import {
  type Import,
  type Matcher,
  type ParseOptions,
  type Preview,
  useColumnValues,
  useImportActions,
  usePreview,
} from '../../data/imports.ts'
import { useLeadFields } from '../../data/lead-fields.ts'
import { usePeople } from '../../data/people.ts'
import { useCurrency, useStatuses } from '../../data/workspace.ts'
import { t } from '../../text/index.ts'
import { hasChoices } from '../../ui/format/custom-value.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { FieldContext } from '../fields/columns.tsx'
import { ColumnMapping } from './ColumnMapping.tsx'
import { DecimalSeparatorOption, NameSplitOption, useDecimalSeparator, useNameSplitting } from './import-options.tsx'
import {
  chosenColumns,
  definedTargets,
  jsonColumns,
  type Mapping,
  mappingOf,
  matchersOf,
  sentLabels,
  sentMeanings,
  setTarget,
  type ValueMeanings,
} from './mapping.ts'
import styles from './transfer.module.css'
import { ValueMapping } from './ValueMapping.tsx'

/** Maps columns to fields and chooses how rows match existing leads; then a dry run or the import. */
export function MappingStep({ one }: { one: Import }) {
  const workspaceId = useWorkspaceId()
  const before = one.choice as Choice | null
  const [reading, setReading] = useState<Partial<ParseOptions>>(before === null ? {} : readingOf(before))
  const query = usePreview(workspaceId, one.id, reading)
  return (
    <QueryBoundary query={query}>
      {(preview) => (
        <MappingForm
          one={one}
          preview={preview}
          before={before}
          reading={reading}
          read={(changes) => setReading({ ...reading, ...changes })}
        />
      )}
    </QueryBoundary>
  )
}

interface Choice extends ParseOptions {
  match: Matcher
  createIfMissing: boolean
  emptyCells: 'keep' | 'clear'
  values: ValueMeanings
  fieldValues: ValueMeanings
  splitNames: boolean
  decimal: '.' | ',' | null
  labels: Record<string, string>
  columns: { name: string; target: string | null }[]
}

interface MappingFormProps {
  one: Import
  preview: Preview
  /** Choices of the previous dry run. */
  before: Choice | null
  reading: Partial<ParseOptions>
  read(changes: Partial<ParseOptions>): void
}

function MappingForm({ one, preview, before, reading, read }: MappingFormProps) {
  const workspaceId = useWorkspaceId()
  const [chosen, setChosen] = useState<Mapping>(
    () => new Map(before?.columns.map(({ name, target }) => [name, target])),
  )
  const [match, setMatch] = useState<Matcher | null>(before?.match ?? null)
  const [rules, setRules] = useState({
    onlyKnown: before?.createIfMissing === false,
    clears: before?.emptyCells === 'clear',
  })
  const { start } = useImportActions(workspaceId)
  const { mapping: texts } = t.transfer
  const mapping = mappingOf(preview, chosen)
  const [labels, setLabels] = useState(before?.labels ?? {})
  const [meanings, setMeanings] = useState<ValueMeanings>({ ...before?.values, ...before?.fieldValues })
  const context = useFieldContext(workspaceId)
  const withOptions = definedTargets(context.fields.filter(({ type }) => hasChoices(type))).map(({ value }) => value)
  const columns = one.format === 'csv' ? chosenColumns(mapping, withOptions) : jsonColumns(withOptions)
  const values = useColumnValues(workspaceId, one.id, columns, reading)
  const names = useNameSplitting(preview, mapping, before)
  const amounts = useDecimalSeparator(preview, mapping, before, context.fields)
  const matchers = matchersOf(one.format, mapping)
  const by = match !== null && matchers.includes(match) ? match : (matchers[0] ?? 'none')
  const { encoding, delimiter } = preview
  // The meaning of values is known when the file has been parsed with these options.
  const isReading = values.includes(undefined)
  const run = useMutation({
    mutationFn: (dryRun: boolean) =>
      start(one.id, {
        match: by,
        dryRun,
        encoding,
        createIfMissing: !rules.onlyKnown,
        ...sentMeanings(meanings, columns, values),
        splitNames: names.isSplit,
        ...(one.format === 'csv' && {
          delimiter,
          emptyCells: rules.clears ? ('clear' as const) : ('keep' as const),
          mapping: Object.fromEntries(mapping),
          labels: sentLabels(mapping, labels),
          ...(amounts.isShown && { decimal: amounts.decimal }),
        }),
      }),
    onError: showError,
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
            set={(column, target) => setChosen(setTarget(chosen, column, target))}
            labels={labels}
            name={(target, label) => setLabels({ ...labels, [target]: label })}
          />
        ) : (
          <pre className={styles.lines}>{preview.rows.map((cells) => cells.join(' ')).join('\n')}</pre>
        )}
      </section>
      <ValueMapping columns={columns} values={values} meanings={meanings} set={setMeanings} context={context} />
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
        <NameSplitOption {...names} />
        <DecimalSeparatorOption {...amounts} />
        <Switches isCsv={one.format === 'csv'} rules={rules} set={(changes) => setRules({ ...rules, ...changes })} />
      </section>
      <div className={styles.end}>
        <Button variant="default" onClick={() => run.mutate(true)} loading={run.isPending} disabled={isReading}>
          {texts.dryRun}
        </Button>
        <Button onClick={() => run.mutate(false)} loading={run.isPending} disabled={isReading}>
          {texts.start}
        </Button>
      </div>
    </>
  )
}

interface SwitchesProps {
  isCsv: boolean
  rules: { onlyKnown: boolean; clears: boolean }
  set(changes: Partial<SwitchesProps['rules']>): void
}

function Switches({ isCsv, rules, set }: SwitchesProps) {
  const { mapping: texts } = t.transfer
  return (
    <>
      <Checkbox
        label={texts.onlyKnown}
        checked={rules.onlyKnown}
        onChange={(event) => set({ onlyKnown: event.currentTarget.checked })}
      />
      {isCsv && (
        <Checkbox
          label={texts.clearEmpty}
          checked={rules.clears}
          onChange={(event) => set({ clears: event.currentTarget.checked })}
        />
      )}
    </>
  )
}

function useFieldContext(workspaceId: string): FieldContext {
  const [people, statuses] = [usePeople(workspaceId), useStatuses(workspaceId)]
  const fields = useLeadFields(workspaceId)
  const currency = useCurrency(workspaceId)
  return useMemo(() => ({ people, statuses, fields, currency }), [people, statuses, fields, currency])
}

const readingOf = ({ encoding, delimiter }: Choice): ParseOptions => ({ encoding, delimiter })

function FileReading({ format, preview, read }: Pick<MappingFormProps, 'preview' | 'read'> & Pick<Import, 'format'>) {
  const { mapping: texts } = t.transfer
  return (
    <div className={styles.row}>
      <Select
        label={texts.encoding}
        data={[
          { value: 'utf-8', label: 'UTF-8' },
          { value: 'windows-1252', label: 'Windows-1252, Latin-1' },
          { value: 'utf-16le', label: 'UTF-16 LE' },
          { value: 'utf-16be', label: 'UTF-16 BE' },
        ]}
        value={preview.encoding}
        onChange={(value) => read({ encoding: value as ParseOptions['encoding'] })}
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
          onChange={(value) => read({ delimiter: value as ParseOptions['delimiter'] })}
          allowDeselect={false}
        />
      )}
    </div>
  )
}
