import { Checkbox, Select } from '@mantine/core'
import { useState } from 'react'
import type { Preview } from '../../data/imports.ts'
import type { LeadField } from '../../data/lead-fields.ts'
import { language, t } from '../../text/index.ts'
import { isNumberType } from '../../ui/format/custom-value.ts'
import { decimalOf, definedTargets, looksWhole, type Mapping, samplesFor } from './mapping.ts'

type Looked = Pick<Preview, 'columns' | 'rows'>

/** Whether first names that are whole names are split: as somebody says, else as the file looks. */
export function useNames(preview: Looked, mapping: Mapping, before: { splitNames: boolean } | null) {
  const [said, say] = useState(before?.splitNames)
  const samples = samplesFor(preview, mapping, 'firstName')
  const isShown = samples.length > 0 || preview.columns.length === 0
  const hasLastNames = samplesFor(preview, mapping, 'lastName').length > 0
  const proposed = !hasLastNames && looksWhole(samples)
  return { isShown, isSplit: isShown && (said ?? proposed), example: samples.find((name) => /\S\s+\S/.test(name)), say }
}

/** `Ana Lima` becomes a first and a last name, if that is what the column has. */
export function NameRule({ isShown, isSplit, example, say }: ReturnType<typeof useNames>) {
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
      onChange={(event) => say(event.currentTarget.checked)}
    />
  )
}

/** What stands before cents in the amounts of a file: as somebody says, else as they look. */
export function useAmounts(
  preview: Looked,
  mapping: Mapping,
  before: { decimal: '.' | ',' | null } | null,
  fields: readonly LeadField[],
) {
  const [said, say] = useState(before?.decimal ?? null)
  const own = definedTargets(fields.filter(({ type }) => isNumberType(type))).map(({ value }) => value)
  const samples = ['estimatedValue', 'actualValue', ...own].flatMap((target) => samplesFor(preview, mapping, target))
  return { isShown: samples.length > 0, decimal: said ?? decimalOf(samples, language), example: samples[0] ?? '', say }
}

export function AmountRule({ isShown, decimal, example, say }: ReturnType<typeof useAmounts>) {
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
      onChange={(value) => say(value === ',' ? ',' : '.')}
      allowDeselect={false}
    />
  )
}
