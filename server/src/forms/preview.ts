import { draftForm } from './change.ts'
import { formPage, thanksPage } from './page/page.ts'
import type { NewForm } from './schema.ts'

/** The pages of a form that is only thought of, as the public would meet them. Refuses a bad definition with 400. */
export function previewForm(workspaceId: string, input: NewForm, now: Date): { page: string; thanks: string } {
  const form = draftForm(workspaceId, input, now)
  const page = formPage({ form, token: '', carried: [], values: {}, refusal: null })
  return { page: page.toString(), thanks: thanksPage(form).toString() }
}
