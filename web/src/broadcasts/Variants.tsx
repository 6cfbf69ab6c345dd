import { ActionIcon, Button, NumberInput, Select, Skeleton, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useTemplates } from '../data/connections.ts'
import { useLeadFields } from '../data/lead-fields.ts'
import type { Variable, Variant } from '../data/outreach/broadcasts.ts'
import type { Template } from '../shared/template-preview.ts'
import { t } from '../text/index.ts'
import { errorSentence } from '../ui/format/error-texts.ts'
import { languageName } from '../ui/format/language-name.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Broadcasts.module.css'
import { canBroadcast, emptyVariant, isFileUrl, sharesOf, variableFields, variantOf } from './draft.ts'

const maxVariants = 3

interface VariantsProps {
  connectionId: string
  variants: readonly Variant[]
  set(variants: Variant[]): void
  isTried: boolean
}

/** The template of a broadcast, or up to three to compare. */
export function Variants({ connectionId, variants, set, isTried }: VariantsProps) {
  const query = useTemplates(useWorkspaceId(), connectionId)
  const texts = t.broadcasts
  if (query.isPending) return <Skeleton height={60} />
  if (query.error !== null) return <p role="alert">{errorSentence(query.error)}</p>
  const templates = query.data.filter(canBroadcast)
  if (templates.length === 0) return <p className={styles.notice}>{texts.noTemplate}</p>
  const shares = sharesOf(variants)
  return (
    <>
      {variants.map((variant, n) => (
        <VariantFields
          // biome-ignore lint/suspicious/noArrayIndexKey: variants have no ids
          key={n}
          title={variants.length === 1 ? texts.template : texts.variant({ n: n + 1, share: shares[n] ?? 0 })}
          variant={variant}
          templates={templates}
          isTried={isTried}
          change={(to) => set(variants.with(n, to))}
          remove={variants.length === 1 ? null : () => set(variants.toSpliced(n, 1))}
        />
      ))}
      {variants.length < maxVariants && (
        <Button
          variant="default"
          leftSection={<IconPlus size={16} />}
          onClick={() => set([...variants, emptyVariant])}
          style={{ alignSelf: 'flex-start' }}
        >
          {texts.addVariant}
        </Button>
      )}
    </>
  )
}

interface VariantFieldsProps {
  title: string
  variant: Variant
  templates: readonly Template[]
  isTried: boolean
  change(to: Variant): void
  /** Null for the only one. */
  remove: (() => void) | null
}

function VariantFields({ title, variant, templates, isTried, change, remove }: VariantFieldsProps) {
  const texts = t.broadcasts
  const { name, language } = variant.template
  const chosen = templates.find((one) => one.name === name && one.language === language)
  const { file, location } = variant
  const variables = [
    ...variant.body.map((variable, n) => ({
      label: texts.variable({ name: chosen?.parameterNames?.[n] ?? `${n + 1}` }),
      variable,
      set: (to: Variable) => change({ ...variant, body: variant.body.with(n, to) }),
    })),
    ...(variant.header === null
      ? []
      : [{ label: texts.header, variable: variant.header, set: (to: Variable) => change({ ...variant, header: to }) }]),
    ...(file == null
      ? []
      : [{ label: texts.file, isFile: true, variable: file, set: (to: Variable) => change({ ...variant, file: to }) }]),
    ...variant.buttons.map((variable, n) => ({
      label: texts.button({ n: n + 1 }),
      variable,
      set: (to: Variable) => change({ ...variant, buttons: variant.buttons.with(n, to) }),
    })),
  ]
  return (
    <fieldset className={styles.variant}>
      <legend>{title}</legend>
      <div className={styles.row}>
        <Select
          label={texts.template}
          data={templates.map((one) => ({
            value: one.id,
            label: `${one.name.replaceAll('_', ' ')} (${languageName(one.language)})`,
          }))}
          value={chosen?.id ?? null}
          allowDeselect={false}
          searchable
          error={isTried && chosen === undefined ? t.start.problems.template : undefined}
          onChange={(id) => {
            const template = templates.find((one) => one.id === id)
            if (template !== undefined) change(variantOf(template, variant.weight))
          }}
        />
        {remove !== null && (
          <>
            <NumberInput
              label={texts.weight}
              min={1}
              max={100}
              clampBehavior="strict"
              allowDecimal={false}
              value={variant.weight}
              onChange={(weight) => change({ ...variant, weight: Number(weight) || 1 })}
            />
            <ActionIcon variant="subtle" color="gray" size="lg" aria-label={texts.removeOf({ title })} onClick={remove}>
              <IconX size={16} />
            </ActionIcon>
          </>
        )}
      </div>
      {chosen !== undefined && <p className={styles.muted}>{chosen.body}</p>}
      {location != null && (
        <LocationFields location={location} set={(to) => change({ ...variant, location: to })} isTried={isTried} />
      )}
      {variables.map((one) => (
        <VariableFields key={one.label} {...one} isTried={isTried} />
      ))}
    </fieldset>
  )
}

type Place = NonNullable<Variant['location']>

/** The place that everyone gets. */
function LocationFields({ location, set, isTried }: { location: Place; set(to: Place): void; isTried: boolean }) {
  const texts = t.compose.templates.inputs
  const degrees = (field: 'latitude' | 'longitude', most: number) => (
    <NumberInput
      label={texts[field]}
      min={-most}
      max={most}
      hideControls
      value={Number.isFinite(location[field]) ? location[field] : ''}
      error={isTried && !Number.isFinite(location[field]) ? t.compose.templates.problems.empty : undefined}
      onChange={(value) => set({ ...location, [field]: value === '' ? Number.NaN : Number(value) })}
    />
  )
  const words = (field: 'name' | 'address') => (
    <TextInput
      label={texts[field]}
      value={location[field] ?? ''}
      maxLength={1000}
      dir="auto"
      onChange={(event) => set({ ...location, [field]: event.currentTarget.value })}
    />
  )
  return (
    <>
      <div className={styles.row}>
        {degrees('latitude', 90)}
        {degrees('longitude', 180)}
      </div>
      <div className={styles.row}>
        {words('name')}
        {words('address')}
      </div>
    </>
  )
}

interface VariableFieldsProps {
  label: string
  /** The https address of a file, which the platform loads. */
  isFile?: boolean
  variable: Variable
  set(to: Variable): void
  isTried: boolean
}

const asText = 'text'

/** What fills a variable, and what does for leads without it. */
function VariableFields({ label, isFile = false, variable, set, isTried }: VariableFieldsProps) {
  const texts = t.broadcasts
  const fields = useLeadFields(useWorkspaceId()).filter(({ isArchived }) => !isArchived)
  const { from, value, fallback = '' } = variable
  const problem = isFile
    ? !isFileUrl(value) && t.problem.broadcastFile
    : value.trim() === '' && t.compose.templates.problems.empty
  return (
    <div className={`${styles.row} ${styles.variable}`}>
      <Select
        label={label}
        data={[
          { value: asText, label: isFile ? texts.sameFile : texts.sameText },
          ...(isFile ? [] : variableFields.map((field) => ({ value: `field ${field}`, label: texts.fields[field] }))),
          ...fields.map((field) => ({ value: `custom ${field.key}`, label: field.label })),
        ]}
        value={from === 'text' ? asText : `${from} ${value}`}
        allowDeselect={false}
        searchable
        onChange={(choice) => {
          const [kind, ...name] = (choice ?? asText).split(' ')
          if (kind === 'field' || kind === 'custom') set({ from: kind, value: name.join(' '), fallback })
          else set({ from: 'text', value: '' })
        }}
      />
      {from === 'text' ? (
        <TextInput
          label={isFile ? texts.fileUrl : texts.textOf({ label })}
          {...(isFile && { placeholder: 'https://', inputMode: 'url' as const })}
          value={value}
          maxLength={1000}
          error={isTried && problem}
          onChange={(event) => set({ from, value: event.currentTarget.value })}
        />
      ) : (
        <TextInput
          label={texts.fallbackOf({ label })}
          value={fallback}
          maxLength={255}
          placeholder={texts.fallbackHelp}
          onChange={(event) => set({ from, value, fallback: event.currentTarget.value })}
        />
      )}
      {isFile && from === 'text' && <p className={styles.muted}>{texts.fileHelp}</p>}
    </div>
  )
}
