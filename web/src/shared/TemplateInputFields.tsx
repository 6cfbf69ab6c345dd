import { Group, TextInput } from '@mantine/core'
import { t } from '../text/index.ts'
import { type InputProblem, type InputValues, inputProblems } from './template-inputs.ts'
import type { Template } from './template-preview.ts'

interface TemplateInputFieldsProps {
  template: Pick<Template, 'inputs'>
  values: InputValues
  set(values: InputValues): void
  /** Empty fields are errors only after an attempt to send. */
  isTried: boolean
}

/** Fields for the header and the buttons of a template. */
export function TemplateInputFields({ template, values, set, isTried }: TemplateInputFieldsProps) {
  const { inputs } = template
  if (inputs === null) return null
  const texts = t.compose.templates.inputs
  const problems = inputProblems(template, values)
  const errorOf = (problem: InputProblem | null | undefined) => inputError(problem, isTried)
  const { location } = values
  const placeField = (field: keyof typeof location, problem: InputProblem | null) => (
    <TextInput
      label={texts[field]}
      value={location[field]}
      dir="auto"
      error={errorOf(problem)}
      {...((field === 'latitude' || field === 'longitude') && { inputMode: 'decimal' as const })}
      onChange={({ currentTarget }) => set({ ...values, location: { ...location, [field]: currentTarget.value } })}
    />
  )
  return (
    <>
      {inputs.headerText !== null && (
        <TextInput
          label={texts.header({ text: inputs.headerText })}
          value={values.headerText}
          dir="auto"
          error={errorOf(problems.headerText)}
          onChange={({ currentTarget }) => set({ ...values, headerText: currentTarget.value })}
        />
      )}
      {inputs.headerLocation && (
        <>
          <Group grow align="flex-start" gap="sm">
            {placeField('latitude', problems.latitude)}
            {placeField('longitude', problems.longitude)}
          </Group>
          {placeField('name', null)}
          {placeField('address', null)}
        </>
      )}
      {inputs.buttons.map(({ type, text, url }, n) =>
        // The code of the body.
        type === 'otp' ? null : (
          <TextInput
            // biome-ignore lint/suspicious/noArrayIndexKey: buttons are identified by position
            key={n}
            label={type === 'url' ? texts.url({ text }) : texts.code}
            {...(url !== null && { description: url })}
            value={values.buttons[n] ?? ''}
            dir="ltr"
            error={errorOf(problems.buttons[n])}
            onChange={({ currentTarget }) => {
              const { value } = currentTarget
              const all = inputs.buttons.map((_, at) => (at === n ? value : (values.buttons[at] ?? '')))
              set({ ...values, buttons: all })
            }}
          />
        ),
      )}
    </>
  )
}

/** Returns the text of a problem. */
export const inputError = (problem: InputProblem | null | undefined, isTried: boolean): string | undefined =>
  problem == null || (problem === 'empty' && !isTried) ? undefined : t.compose.templates.problems[problem]
