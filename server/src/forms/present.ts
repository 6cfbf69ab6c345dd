import { html } from '../base/text/html.ts'
import { decoyField, type Form } from './form/form.ts'
import { fieldHtml, untouched } from './page/field-html.ts'
import type { SubmissionCount } from './submit/submissions.ts'

/** A form as the team sees it, with what it needs to publish it. */
export function presentForm(publicUrl: string, form: Form) {
  const { workspaceId: _, createdAt, updatedAt, ...shown } = form
  return {
    ...shown,
    url: formUrl(publicUrl, form),
    embedHtml: embedHtml(publicUrl, form),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}

export function presentListed(publicUrl: string, form: Form, counted: SubmissionCount | undefined) {
  return {
    ...presentForm(publicUrl, form),
    submissionCount: counted?.count ?? 0,
    lastSubmissionAt: counted?.lastAt.toISOString() ?? null,
  }
}

/** A plain form for a page of another site, whose own styles it takes on. That site's origin must be allowed. */
function embedHtml(publicUrl: string, form: Form): string {
  // A class of ours means nothing there, so the decoy is moved away by a style of its own.
  return html`<form method="post" action="${formUrl(publicUrl, form)}" accept-charset="utf-8">
${form.fields.map((field) => html`${fieldHtml(field, untouched)}\n`)}<div aria-hidden="true" style="position:absolute;left:-10000px"><label>Homepage <input name="${decoyField}" tabindex="-1" autocomplete="off"></label></div>
<button type="submit">${form.submitLabel}</button>
</form>`.toString()
}

function formUrl(publicUrl: string, form: Pick<Form, 'slug'>): string {
  return `${publicUrl}/f/${form.slug}`
}
