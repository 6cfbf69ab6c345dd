import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp } from '../../base/route.ts'
import { text, uuid } from '../../base/schema-types.ts'
import { approvalReasons } from '../../inbox/drafts/approval-rules.ts'
import { type Draft, draftStatuses } from '../../inbox/drafts/draft.ts'
import { presentText } from './notes-and-handovers.ts'
import type { AgentViewerContext } from './viewer.ts'

export const AgentDraft = Type.Object(
  {
    id: uuid('The draft.'),
    status: oneOf(draftStatuses, {
      description:
        '`open`: a person has not decided yet. `sent` and `edited`: the customer has it. `rejected`: see `reason`. `replaced` by a newer one; `stale`: the customer wrote again or the owner changed.',
    }),
    why: oneOf(approvalReasons, { description: 'Why it needs approval.' }),
    created_at: timestamp('When.'),
    decided_at: nullable(timestamp('When a person decided.')),
    sent_text: nullable(text(16_384, 'What the person sent.')),
    reason: nullable(text(1000, 'Why it was rejected.')),
    message_id: nullable(uuid('The message that it became.')),
  },
  { title: 'AgentDraft', description: 'Your newest answer that a person must approve.' },
)

export const presentDraft = (draft: Draft, viewer: AgentViewerContext): Static<typeof AgentDraft> => ({
  id: draft.id,
  status: draft.status,
  why: draft.why,
  created_at: draft.createdAt.toISOString(),
  decided_at: draft.decidedAt?.toISOString() ?? null,
  sent_text: draft.sentText === null ? null : presentText(draft.sentText, viewer),
  reason: draft.reason === null ? null : presentText(draft.reason, viewer),
  message_id: draft.messageId,
})

/** Returns what an agent can do with a draft now. */
export function draftHint({ status, reason }: Pick<Draft, 'status' | 'reason'>): string {
  if (status === 'open')
    return 'A person has not decided on your draft yet. Propose another only if it should replace it.'
  if (status === 'rejected')
    return `A person rejected your draft${reason === null ? '' : ': draft.reason says why'}. Answer differently or hand over.`
  if (status === 'edited') return 'A person changed your draft and sent it: draft.sent_text is what the customer got.'
  if (status === 'sent') return 'A person sent your draft.'
  return 'Your draft no longer applies: read what has changed.'
}
