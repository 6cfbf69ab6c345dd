import type { FormField, Submission } from '../data/forms.ts'
import { t } from '../text/index.ts'

/** Returns the columns for answers: fields of the form in order, then fields that it no longer has. */
export function answerColumns(
  fields: readonly Pick<FormField, 'key' | 'label'>[],
  submissions: readonly Pick<Submission, 'answers'>[],
) {
  const columns = new Map(fields.map(({ key, label }) => [key, label]))
  for (const { answers } of submissions) {
    for (const { key, label } of answers ?? []) if (!columns.has(key)) columns.set(key, label)
  }
  return [...columns].map(([key, label]) => ({ key, label }))
}

/** Returns an answer as text; empty if there is none. */
export function answerIn({ answers }: Pick<Submission, 'answers'>, key: string): string {
  const value = answers?.find((one) => one.key === key)?.value ?? ''
  if (typeof value === 'boolean') return value ? t.common.yes : t.common.no
  return value
}
