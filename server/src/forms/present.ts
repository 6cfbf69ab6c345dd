import { embedHtml, formUrl } from './embed.ts'
import type { Form } from './form.ts'
import type { Received } from './submissions.ts'

/** A form as the team sees it, with what it needs to publish it. */
export function presentForm(publicUrl: string, form: Form, received: Received | undefined) {
  const { workspaceId: _, createdAt, updatedAt, ...shown } = form
  return {
    ...shown,
    url: formUrl(publicUrl, form),
    embedHtml: embedHtml(publicUrl, form),
    submissions: { count: received?.count ?? 0, lastAt: received?.lastAt?.toISOString() ?? null },
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}
