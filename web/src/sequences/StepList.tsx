import { ActionIcon, Button, Checkbox, Select, Textarea, TextInput } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconPlus, IconX } from '@tabler/icons-react'
import { useTemplates } from '../data/connections.ts'
import type { SequenceDraft, SequenceStep } from '../data/outreach/sequences.ts'
import { Duration } from '../shared/Duration.tsx'
import { TemplatePreview } from '../shared/TemplatePreview.tsx'
import { findTemplates, type Template, valuesFor } from '../shared/template-preview.ts'
import { language, t } from '../text/index.ts'
import { languageName } from '../ui/format/language-name.ts'
import { Segments } from '../ui/page/Segments.tsx'
import type { Draft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Sequences.module.css'
import { isFillable, newStep, templateOf } from './sequence-draft.ts'

const maxSteps = 10

/** The steps of a sequence, in order. */
export function StepList({ draft }: { draft: Draft<SequenceDraft> }) {
  const texts = t.sequences
  const { steps, connectionId } = draft.value
  const templates = useTemplates(useWorkspaceId(), connectionId)
  const set = (next: SequenceStep[]) => draft.set({ steps: next })
  const move = (from: number, by: number) => {
    const [one] = steps.slice(from, from + 1)
    if (one === undefined || steps[from + by] === undefined) return
    const next = steps.toSpliced(from, 1).toSpliced(from + by, 0, one)
    // Only the first step can be due at once.
    set(next.map((step, n) => (n > 0 && step.waitMinutes === 0 ? { ...step, waitMinutes: 1 } : step)))
  }
  return (
    <>
      <ol className={styles.steps} aria-label={texts.steps}>
        {steps.map((step, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps have no ids
          <li key={n} className={styles.step}>
            <div className={styles.head}>
              <strong>{texts.stepOf({ n: n + 1 })}</strong>
              {([-1, 1] as const).map((by) => (
                <ActionIcon
                  key={by}
                  variant="subtle"
                  color="gray"
                  aria-label={by === -1 ? texts.moveUp({ n: n + 1 }) : texts.moveDown({ n: n + 1 })}
                  aria-disabled={steps[n + by] === undefined}
                  onClick={() => move(n, by)}
                >
                  {by === -1 ? <IconArrowUp size={16} /> : <IconArrowDown size={16} />}
                </ActionIcon>
              ))}
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={texts.removeStep({ n: n + 1 })}
                aria-disabled={steps.length === 1}
                onClick={() => steps.length > 1 && set(steps.toSpliced(n, 1))}
              >
                <IconX size={16} />
              </ActionIcon>
            </div>
            <StepFields
              step={step}
              place={n}
              templates={findTemplates(templates.data ?? [], '', language).filter(isFillable)}
              set={(next) => set(steps.with(n, next))}
              errorAt={(field) => draft.issueAt(`steps[${n}].${field}`)}
            />
          </li>
        ))}
      </ol>
      {draft.errorOf('steps') !== undefined && <p role="alert">{draft.errorOf('steps')}</p>}
      {steps.length < maxSteps && (
        <Button
          variant="default"
          leftSection={<IconPlus size={16} />}
          onClick={() => set([...steps, newStep(steps.length)])}
        >
          {texts.addStep}
        </Button>
      )}
    </>
  )
}

interface StepFieldsProps {
  step: SequenceStep
  place: number
  templates: readonly Template[]
  set(step: SequenceStep): void
  errorAt(field: string): string | undefined
}

function StepFields({ step, place, templates, set, errorAt }: StepFieldsProps) {
  const texts = t.sequences
  const { text, template: _, ...timing } = step
  const kind = text === undefined ? 'template' : 'text'
  return (
    <>
      <div className={styles.label}>
        <span>{place === 0 ? texts.waitFirst : texts.wait}</span>
        <Duration
          label={place === 0 ? texts.waitFirst : texts.wait}
          minutes={step.waitMinutes}
          min={place === 0 ? 0 : 1}
          set={(waitMinutes) => set({ ...step, waitMinutes })}
        />
      </div>
      {errorAt('waitMinutes') !== undefined && <p role="alert">{errorAt('waitMinutes')}</p>}
      <Checkbox
        label={texts.businessHours}
        checked={step.businessHours}
        onChange={(event) => set({ ...step, businessHours: event.currentTarget.checked })}
      />
      <Segments
        label={texts.kindOf({ n: place + 1 })}
        data={(['template', 'text'] as const).map((value) => ({ value, label: texts.kinds[value] }))}
        value={kind}
        onChange={(next) =>
          set(next === 'text' ? { ...timing, text: '' } : { ...timing, template: { name: '', language: '' } })
        }
      />
      {text === undefined ? (
        <TemplateStep step={step} templates={templates} set={set} errorAt={errorAt} />
      ) : (
        <Textarea
          label={texts.text}
          description={texts.textHelp}
          autosize
          minRows={2}
          maxRows={8}
          maxLength={4096}
          value={text}
          error={errorAt('text')}
          onChange={(event) => set({ ...step, text: event.currentTarget.value })}
        />
      )}
    </>
  )
}

/** Where a template greets, it greets the lead by first name. */
const greeted = '{{contact.first_name|…}}'

function TemplateStep({ step, templates, set, errorAt }: Omit<StepFieldsProps, 'place'>) {
  const texts = t.sequences
  const { name = '', language: chosen = '', body_params = [], button_params = [] } = step.template ?? {}
  const template = templates.find((one) => one.name === name && one.language === chosen)
  const change = (to: Partial<NonNullable<SequenceStep['template']>>) =>
    set({ ...step, template: { name, language: chosen, ...step.template, ...to } })
  const valuesWith = (values: readonly string[], n: number, value: string) =>
    Array.from({ length: Math.max(values.length, n + 1) }, (_, at) => (at === n ? value : (values[at] ?? '')))
  return (
    <>
      <Select
        label={t.start.template}
        placeholder={t.start.choose}
        searchable
        data={templates.map((one) => ({
          value: one.id,
          label: `${one.name.replaceAll('_', ' ')} (${languageName(one.language)})`,
        }))}
        value={template?.id ?? null}
        allowDeselect={false}
        error={errorAt('template.name') ?? (name !== '' && template === undefined ? texts.templateGone : undefined)}
        onChange={(id) => {
          const found = templates.find((one) => one.id === id)
          if (found === undefined) return
          const values = valuesFor(found, greeted.replace('…', texts.otherwise))
          set({ ...step, template: templateOf(found, values) })
        }}
      />
      {Array.from({ length: template?.parameterCount ?? 0 }, (_, n) => (
        <TextInput
          // biome-ignore lint/suspicious/noArrayIndexKey: parameters are identified by index
          key={n}
          label={t.start.value({ n: template?.parameterNames?.[n] ?? `${n + 1}` })}
          value={body_params[n] ?? ''}
          maxLength={1024}
          dir="auto"
          error={errorAt(`template.body_params[${n}]`)}
          onChange={(event) => change({ body_params: valuesWith(body_params, n, event.currentTarget.value) })}
        />
      ))}
      {template !== undefined && <HeaderField template={template} step={step} change={change} errorAt={errorAt} />}
      {(template?.inputs?.buttons ?? []).map(({ type, text }, n) => (
        <TextInput
          // biome-ignore lint/suspicious/noArrayIndexKey: buttons are identified by position
          key={n}
          label={type === 'url' ? t.compose.templates.inputs.url({ text }) : t.compose.templates.inputs.code}
          value={button_params[n] ?? ''}
          maxLength={2000}
          dir="ltr"
          error={errorAt(`template.button_params[${n}]`)}
          onChange={(event) => change({ button_params: valuesWith(button_params, n, event.currentTarget.value) })}
        />
      ))}
      {template !== undefined && (
        <>
          {template.parameterCount > 0 && <p className={styles.help}>{texts.placeholders}</p>}
          <TemplatePreview body={template.body} values={body_params} />
        </>
      )}
    </>
  )
}

interface HeaderFieldProps extends Pick<StepFieldsProps, 'step' | 'errorAt'> {
  template: Template
  change(to: { header_param: string } | { header_url: string }): void
}

/** The value of a text header, or the address of a file. */
function HeaderField({ template: { header, inputs }, step, change, errorAt }: HeaderFieldProps) {
  const { header_param = '', header_url = '' } = step.template ?? {}
  if (header !== null) {
    return (
      <TextInput
        label={t.broadcasts.fileUrl}
        description={t.broadcasts.fileHelp}
        placeholder="https://"
        inputMode="url"
        value={header_url}
        maxLength={2000}
        dir="ltr"
        error={errorAt('template.header_url')}
        onChange={(event) => change({ header_url: event.currentTarget.value.trim() })}
      />
    )
  }
  if (inputs?.headerText == null) return null
  return (
    <TextInput
      label={t.compose.templates.inputs.header({ text: inputs.headerText })}
      value={header_param}
      maxLength={255}
      dir="auto"
      error={errorAt('template.header_param')}
      onChange={(event) => change({ header_param: event.currentTarget.value })}
    />
  )
}
