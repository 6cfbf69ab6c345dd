import { Checkbox, Select } from '@mantine/core'
import { useState } from 'react'
import type { Preview } from '../../data/imports.ts'
import type { LeadField } from '../../data/lead-fields.ts'
import { language, t } from '../../text/index.ts'
import { isNumberType } from '../../ui/format/custom-value.ts'
import { decimalOf, definedTargets, hasFullNames, type Mapping, samplesFor } from './mapping.ts'

type SampledFile = Pick<Preview, 'columns' | 'rows'>

/** Returns whether full names are split: as chosen, otherwise as guessed from the samples. */
export function useNameSplitting(preview: SampledFile, mapping: Mapping, before: { splitNames: boolean } | null) {
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
export function NameSplitOption({ isShown, isSplit, example, setChoice }: ReturnType<typeof useNameSplitting>) {
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
export function useDecimalSeparator(
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

export function DecimalSeparatorOption({
  isShown,
  decimal,
  example,
  setChoice,
}: ReturnType<typeof useDecimalSeparator>) {
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
