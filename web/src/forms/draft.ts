import type { Form, FormField, FormSettings, ListedForm } from '../data/forms.ts'

/** A form in the editor. Each field has an id, since its key may change or be invalid. */
export interface FormDraft extends Omit<FormSettings, 'fields' | 'description' | 'redirectUrl' | 'allowedOrigins'> {
  fields: DraftField[]
  description: string
  redirectUrl: string
  /** One per line. */
  allowedOrigins: string
}

export interface DraftField extends FormField {
  id: string
  /** Whether the key was edited or saved; until then it follows the label. */
  isKeyOwn: boolean
}

/** Accepts a form alone or from the list, which adds submission counts. */
export function draftOf(form: Form & Partial<ListedForm>): FormDraft {
  const { submissionCount: _count, lastSubmissionAt: _last, ...own } = form
  const { id: _, url: _url, embedHtml: _html, createdAt: _c, updatedAt: _u, ...settings } = own
  return draftFrom(settings)
}

export function draftFrom(settings: FormSettings): FormDraft {
  return {
    ...settings,
    fields: settings.fields.map((field) => ({ ...field, id: field.key, isKeyOwn: true })),
    description: settings.description ?? '',
    redirectUrl: settings.redirectUrl ?? '',
    allowedOrigins: settings.allowedOrigins.join('\n'),
  }
}

export function settingsOf(draft: FormDraft): FormSettings {
  return {
    ...draft,
    fields: draft.fields.map(fieldOf),
    description: draft.description.trim() || null,
    redirectUrl: draft.redirectUrl.trim() || null,
    allowedOrigins: draft.allowedOrigins
      .split('\n')
      .map((line) => line.trim().replace(/\/{1,9}$/, ''))
      .filter((line) => line !== ''),
  }
}

function fieldOf({ id: _, isKeyOwn: _own, placeholder, help, ...field }: DraftField): FormField {
  return { ...field, ...(placeholder && { placeholder }), ...(help && { help }) }
}
