import type { Form } from './form.ts'
import { embedHtml, formUrl } from './page/embed.ts'
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
