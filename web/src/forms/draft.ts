import type { Form, FormField, FormSettings, ListedForm } from '../data/forms.ts'

/** A form while it is built. Each field has an id of its own, since its key may change or be wrong. */
export interface FormDraft extends Omit<FormSettings, 'fields' | 'description' | 'redirectUrl' | 'allowedOrigins'> {
  fields: DraftField[]
  description: string
  redirectUrl: string
  /** One a line. */
  allowedOrigins: string
}

export interface DraftField extends FormField {
  id: string
  /** The key follows the label until somebody writes one, or the form has been saved. */
  isKeyOwn: boolean
}

/** Of a form by itself or of the list, where it has been counted how often it was sent. */
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
