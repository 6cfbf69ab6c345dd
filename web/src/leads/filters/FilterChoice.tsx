import { Button, Checkbox, Radio, Stack, TextInput } from '@mantine/core'
import { t } from '../../text/index.ts'
import { dayBefore, type FilterName, type LeadAddress, readAddress } from '../fields/address.ts'
import { choicesOf, type FieldContext } from '../fields/columns.tsx'
import styles from '../LeadsPage.module.css'
import { LabelFilter } from '../labels/LabelFilter.tsx'
import { titleOf } from './sentence.ts'

interface FilterChoiceProps {
  name: FilterName
  address: LeadAddress
  context: FieldContext
  set(changes: LeadAddress): void
}

const fields = { priority: 'priority', source: 'source', platform: 'adPlatform', assignee: 'assignedTo' } as const

/** What a filter can be set to. */
export function FilterChoice({ name, address, context, set }: FilterChoiceProps) {
  if (name === 'created' || name === 'updated') return <Days name={name} address={address} set={set} />
  if (name === 'labels' || name === 'withoutLabels') {
    return (
      <LabelFilter
        title={titleOf(name)}
        value={address[name]}
        set={(value) => set(value === undefined ? cleared(name) : { [name]: value })}
      />
    )
  }
  if (name === 'import') return t.leads.filters.fromImportHelp
  if (name === 'status') {
    const chosen = address.status?.split(',') ?? []
    const choices = choicesOf('status', context, '') ?? []
    const others = chosen.filter((status) => choices.every(({ value }) => value !== status))
    return (
      <Checkbox.Group
        label={titleOf(name)}
        value={chosen}
        onChange={(values) => set(values.length === 0 ? cleared('status') : { status: values.join(',') })}
      >
        <Stack gap={8} mt={8} className={styles.choices}>
          {[...choices, ...others.map((value) => ({ value, label: value }))].map(({ value, label }) => (
            <Checkbox key={value} size="xs" value={value} label={label} />
          ))}
        </Stack>
      </Checkbox.Group>
    )
  }
  const choices = (choicesOf(fields[name], context, '') ?? []).filter(({ value }) => value !== '')
  return (
    <Radio.Group
      label={titleOf(name)}
      value={address[name] ?? ''}
      onChange={(value) => set(readAddress({ [name]: value }))}
    >
      <Stack gap={8} mt={8} className={styles.choices}>
        {choices.map(({ value, label }) => (
          <Radio key={value} size="xs" value={value} label={label} />
        ))}
      </Stack>
    </Radio.Group>
  )
}

const spans = [7, 30, 90]

function Days({ name, address, set }: Omit<FilterChoiceProps, 'context'> & { name: 'created' | 'updated' }) {
  const [from, to] = [`${name}From`, `${name}To`] as const
  const day = (field: typeof from | typeof to, label: string) => (
    <TextInput
      type="date"
      size="xs"
      label={label}
      value={address[field] ?? ''}
      onChange={({ currentTarget: { value } }) => set(value === '' ? cleared(field) : { [field]: value })}
    />
  )
  return (
    <Stack gap={10} maw={240}>
      <div className={styles.days}>
        {spans.map((days) => (
          <Button
            key={days}
            size="compact-xs"
            variant="default"
            onClick={() => set({ [from]: dayBefore(days), ...cleared(to) })}
          >
            {t.leads.filters.lastDays(days)}
          </Button>
        ))}
      </div>
      {day(from, t.leads.filters.fromDay)}
      {day(to, t.leads.filters.toDay)}
    </Stack>
  )
}

// Laid over an address, it takes the field out of it: what is no text is left out on the way to the address bar.
const cleared = (field: keyof LeadAddress) => ({ [field]: undefined }) as LeadAddress
