import { violates } from '../../base/db.ts'
import { badRequest } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import type { LeadDeps } from '../../leads/lead/lead.ts'
import { createClaimedLead } from '../../leads/write/create.ts'
import { formNotFound } from '../form/errors.ts'
import { decoyField, type PublicForm, tokenField } from '../form/form.ts'
import type { RawFields } from '../form/parameters.ts'
import { takeFormQuota } from './quota.ts'
import { readSubmission } from './submission.ts'
import { answersOf, insertSubmission } from './submissions.ts'
import { readToken, type TokenReading } from './token.ts'

export interface FilledForm {
  body: RawFields
  /** The parameters of the address. */
  query: RawFields
  /** Whether it comes from the page that we served, which holds a token. */
  fromOwnPage: boolean
  refuseUnknown: boolean
}

/**
 * Makes one lead of a filled form, however often the same page is sent. Refuses with 400 what does not fit and what
 * came too fast or too late, and with 429 when the day's quota, or what forms have of it, is used up. A program that filled the decoy is told
 * that all went well.
 */
export async function submitForm(deps: LeadDeps, form: PublicForm, filled: FilledForm): Promise<void> {
  const { body, query } = filled
  if (String(body[decoyField] ?? '') !== '') return
  const now = deps.clock.now()
  const nonce = await nonceOf(deps, form, filled, now)
  const { patch, answers, issues } = readSubmission(form, body, query, filled.refuseUnknown)
  const { workspaceId, id: formId, leadSettings } = form
  const user = { ...leadSettings, workspaceId, masked: true, actor: { type: 'form', id: formId } } as const
  const keyring = await deps.vault.keyring(workspaceId)
  const submission = { id: newId(now), formId, nonce, submittedAt: now }
  const sealed = keyring.seal(answersOf(submission.id), JSON.stringify(answers))
  try {
    await createClaimedLead(deps, user, patch, issues, async (tx, lead) => {
      await insertSubmission(tx, workspaceId, { ...submission, leadId: lead.id, answers: sealed })
      await takeFormQuota(tx, workspaceId, formId, now)
    })
  } catch (error) {
    if (violates(error, 'form_submissions_form_fkey')) throw formNotFound()
    if (!violates(error, 'form_submissions_nonce_key')) throw error
  }
}

async function nonceOf(
  deps: LeadDeps,
  form: PublicForm,
  { body, fromOwnPage }: FilledForm,
  now: Date,
): Promise<string> {
  const token = body[tokenField]
  if (token === undefined && !fromOwnPage) return newId(now)
  const keyring = await deps.vault.keyring(form.workspaceId)
  const reading = readToken(keyring, form.id, typeof token === 'string' ? token : '', now)
  if (!reading.ok) throw badRequest(sendAgain[reading.problem])
  return reading.nonce
}

const sendAgain: Record<Extract<TokenReading, { ok: false }>['problem'], string> = {
  tampered: 'This page could not be recognised. Please send it once more.',
  'too fast': 'That was very quick. Please look it over and send it once more.',
  'too old': 'This page was open for more than a day. Please send it once more.',
}
