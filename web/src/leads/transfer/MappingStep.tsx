import { Button, Checkbox, Select } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type Import,
  type Matcher,
  type ParseOptions,
  type Preview,
  useColumnValues,
  useImportActions,
  usePreview,
} from '../../data/imports.ts'
import type { LeadField } from '../../data/lead-fields.ts'
import { language, t } from '../../text/index.ts'
import { hasChoices, isNumberType } from '../../ui/format/custom-value.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useFieldContext } from '../fields/use-field-context.ts'
import { ColumnMapping } from './ColumnMapping.tsx'
import {
  chosenColumns,
  decimalOf,
  definedTargets,
  hasFullNames,
  jsonColumns,
  type Mapping,
  mappingOf,
  matchersOf,
  samplesFor,
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
  const [reading, setReading] = useState<Partial<ParseOptions>>(
    one.choice === null ? {} : { encoding: one.choice.encoding, delimiter: one.choice.delimiter },
  )
  const query = usePreview(workspaceId, one.id, reading)
  return (
    <QueryBoundary query={query}>
      {(preview) => (
        <MappingForm
          one={one}
          preview={preview}
          reading={reading}
          read={(changes) => setReading({ ...reading, ...changes })}
        />
      )}
    </QueryBoundary>
  )
}

interface MappingFormProps {
  one: Import
  preview: Preview
  reading: Partial<ParseOptions>
  read(changes: Partial<ParseOptions>): void
}

function MappingForm({ one, preview, reading, read }: MappingFormProps) {
  // Choices of the previous dry run.
  const before = one.choice
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
  const context = useFieldContext()
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

type SampledFile = Pick<Preview, 'columns' | 'rows'>

/** Returns whether full names are split: as chosen, otherwise as guessed from the samples. */
function useNameSplitting(preview: SampledFile, mapping: Mapping, before: { splitNames: boolean } | null) {
  const [choice, setChoice] = useState(before?.splitNames)
  const samples = samplesFor(preview, mapping, 'firstName')
  const isShown = samples.length > 0 || preview.columns.length === 0
  const hasLastNames = samplesFor(preview, mapping, 'lastName').length > 0
  const proposed = !hasLastNames && hasFullNames(samples)
  return {
    isShown,
    isSplit: isShown && (choice ?? proposed),
    example: samples.find((name) => /\S\s+\S/.test(name)),
    setChoice,
  }
}

/** Option to split `Ana Lima` into first and last name, shown if the column contains full names. */
function NameSplitOption({ isShown, isSplit, example, setChoice }: ReturnType<typeof useNameSplitting>) {
  const { mapping: texts } = t.transfer
  if (!isShown) return null
  const [first = '', ...rest] = example?.trim().split(/\s+/) ?? []
  return (
    <Checkbox
      label={texts.splitNames}
      description={
        example === undefined ? undefined : texts.splitExample({ name: example.trim(), first, last: rest.join(' ') })
      }
      checked={isSplit}
      onChange={(event) => setChoice(event.currentTarget.checked)}
    />
  )
}

/** Returns the decimal separator of amounts: as chosen, otherwise as guessed from the samples. */
function useDecimalSeparator(
  preview: SampledFile,
  mapping: Mapping,
  before: { decimal: '.' | ',' | null } | null,
  fields: readonly LeadField[],
) {
  const [choice, setChoice] = useState(before?.decimal ?? null)
  const own = definedTargets(fields.filter(({ type }) => isNumberType(type))).map(({ value }) => value)
  const samples = ['estimatedValue', 'actualValue', ...own].flatMap((target) => samplesFor(preview, mapping, target))
  return {
    isShown: samples.length > 0,
    decimal: choice ?? decimalOf(samples, language),
    example: samples[0] ?? '',
    setChoice,
  }
}

function DecimalSeparatorOption({ isShown, decimal, example, setChoice }: ReturnType<typeof useDecimalSeparator>) {
  const { mapping: texts } = t.transfer
  if (!isShown) return null
  return (
    <Select
      label={texts.amounts}
      description={texts.amountsHelp({ example })}
      data={[
        { value: '.', label: '1,234.50' },
        { value: ',', label: '1.234,50' },
      ]}
      value={decimal}
      onChange={(value) => setChoice(value === ',' ? ',' : '.')}
      allowDeselect={false}
    />
  )
}
