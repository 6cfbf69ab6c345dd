import { Select, Skeleton, TextInput } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { useTemplates } from '../../data/connections.ts'
import { language, t } from '../../text/index.ts'
import { errorSentence } from '../../ui/format/error-texts.ts'
import { languageName } from '../../ui/format/language-name.ts'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { TemplateInputFields } from '../TemplateInputFields.tsx'
import { TemplatePreview } from '../TemplatePreview.tsx'
import { findTemplates, type Problem, problemOf } from '../template-preview.ts'
import type { StartForm } from './use-start.ts'

interface TemplateFieldsProps {
  connectionId: string
  start: Pick<StartForm, 'template' | 'choose' | 'values' | 'setValue' | 'inputs' | 'setInputs' | 'isTried'>
  /** Error of the server about the template. */
  refusal: string | null
  /** Takes the focus after a recipient was chosen. */
  takesFocus: boolean
}

/** Chooses a template and its values, with a preview. */
export function TemplateFields({ connectionId, start, refusal, takesFocus }: TemplateFieldsProps) {
  const { template, values, inputs, isTried } = start
  const missing = isTried && template === null ? t.start.problems.template : null
  return (
    <>
      <TemplateChoice connectionId={connectionId} start={start} problem={refusal ?? missing} takesFocus={takesFocus} />
      {values.map((value, n) => (
        <TextInput
          // biome-ignore lint/suspicious/noArrayIndexKey: parameters are identified by index
          key={n}
          label={t.start.value({ n: template?.parameterNames?.[n] ?? `${n + 1}` })}
          value={value}
          dir="auto"
          error={fieldError(problemOf(value, template), isTried)}
          onChange={({ currentTarget }) => start.setValue(n, currentTarget.value)}
        />
      ))}
      {template !== null && (
        <>
          <TemplateInputFields template={template} values={inputs} set={start.setInputs} isTried={isTried} />
          <TemplatePreview body={template.body} values={values} />
        </>
      )}
    </>
  )
}

const fieldError = (problem: Problem | null, isTried: boolean): string | undefined =>
  problem === null || (problem === 'empty' && !isTried) ? undefined : t.compose.templates.problems[problem]

interface TemplateChoiceProps extends Pick<TemplateFieldsProps, 'connectionId' | 'start' | 'takesFocus'> {
  problem: string | null
}

function TemplateChoice({ connectionId, start, problem, takesFocus }: TemplateChoiceProps) {
  const query = useTemplates(useWorkspaceId(), connectionId)
  const field = useRef<HTMLInputElement>(null)
  const isLoaded = query.data !== undefined
  useEffect(() => {
    if (takesFocus && isLoaded) field.current?.focus()
  }, [takesFocus, isLoaded])
  if (query.isPending) return <Skeleton height={60} />
  if (query.error !== null) return <p role="alert">{errorSentence(query.error)}</p>
  // Headers with a file require an existing conversation for the upload.
  const templates = findTemplates(query.data, '', language).filter(({ header }) => header === null)
  if (templates.length === 0) return <EmptyState title={t.start.noTemplate} help={t.start.noTemplateHelp} />
  return (
    <Select
      ref={field}
      label={t.start.template}
      placeholder={t.start.choose}
      searchable
      openOnFocus={false}
      data={templates.map((one) => ({
        value: one.id,
        label: `${one.name.replaceAll('_', ' ')} (${languageName(one.language)})`,
      }))}
      value={start.template?.id ?? null}
      allowDeselect={false}
      error={problem}
      onChange={(id) => start.choose(templates.find((one) => one.id === id) ?? null)}
    />
  )
}
