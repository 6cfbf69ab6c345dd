import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, text, uuid } from '../../base/schema-types.ts'
import { closed, idSchema, workspaceParams } from '../../team/team-schema.ts'
import { maxCustomFields, maxKeyLength } from '../lead/custom-fields.ts'
import { LeadDetail } from '../lead/schema.ts'
import { maxContacts, mergeFields } from './plan-merge.ts'

const whose = oneOf(['kept', 'other'], {
  title: 'MergeChoice',
  description:
    'Whose value stays. Not chosen: that of the lead that is kept, or the other’s where it has none. A value that is chosen stays even when it is empty.',
})

const { notes: _, ...plainFields } = Object.fromEntries(
  mergeFields.map((name) => [name, Type.Optional(whose)]),
) as Record<(typeof mergeFields)[number], ReturnType<typeof Type.Optional<typeof whose>>>

export const NewMerge = Type.Object(
  {
    otherId: idSchema('The lead that is merged into the one of the address, and deleted.'),
    fields: Type.Optional(
      Type.Object(
        {
          ...plainFields,
          notes: Type.Optional(
            oneOf(['kept', 'other', 'both'], {
              description: 'Not chosen: both, one after the other, where they differ and fit into 10,000 characters.',
            }),
          ),
        },
        { ...closed, title: 'MergeFields', description: 'By the name of the field.' },
      ),
    ),
    customFields: Type.Optional(
      Type.Record(Type.String({ maxLength: maxKeyLength }), oneOf(['kept', 'other', 'none']), {
        maxProperties: 2 * maxCustomFields,
        description: `By the key of the field; \`none\` gives it up, which is needed where both together have more than ${maxCustomFields}.`,
      }),
    ),
  },
  {
    ...closed,
    title: 'NewLeadMerge',
    example: { otherId: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e', fields: { email: 'other', notes: 'both' } },
  },
)
export type NewMerge = Static<typeof NewMerge>

export const LeadMerge = titled('LeadMerge', {
  id: idSchema('The merge.'),
  keptId: idSchema('The lead that was kept.'),
  otherId: idSchema('The lead that was merged into it.'),
  otherName: nullable(text(600, 'What the other was called; null when it can be undone no more.')),
  statusChanges: count('How many changes of status came to the kept lead.'),
  submissions: count('How many submissions of forms came to the kept lead.'),
  mergedBy: Type.Object({ type: oneOf(['user', 'token']), id: uuid('Of the user or token.') }),
  mergedAt: timestamp('When they were merged.'),
  undoUntil: nullable(timestamp('Until when it can be undone; null when it cannot be.')),
  undoneAt: nullable(timestamp('When it was undone.')),
  left: Type.Array(text(60, 'The name of a field, `customFields.` and a key, or `other` for the other lead itself.'), {
    maxItems: mergeFields.length + 3 * maxCustomFields,
    description: 'Of an undo: what stays as it is, since somebody changed it after the merge.',
  }),
})

export const MergeDone = titled('LeadMergeDone', { merge: LeadMerge, lead: LeadDetail })

const contacts = (description: string, maxLength: number) =>
  Type.Array(Type.String({ maxLength }), { maxItems: maxContacts, description })

export const LeadMerges = titled('LeadMerges', {
  merges: Type.Array(LeadMerge, { maxItems: 100, description: 'Those that stand, the newest first.' }),
  otherPhones: contacts('The phones that it has beside its own, by which it is found.', 20),
  otherEmails: contacts('The e-mails that it has beside its own, by which it is found.', 254),
})

export const MergedInto = titled('LeadMergedInto', {
  leadId: idSchema('The lead that has taken it in, by way of others too.'),
  name: nullable(text(600, 'What the merged one was called; null when the merge can be undone no more.')),
  mergedAt: timestamp('When it was merged.'),
})

export const MergePreview = titled('LeadMergePreview', {
  kept: LeadDetail,
  other: LeadDetail,
  conversations: count('How many conversations the kept lead gets.'),
  submissions: count('How many submissions of forms it gets.'),
  statusChanges: count('How many changes of status it gets.'),
})

export const PreviewQuery = Type.Object({ otherId: idSchema('The lead that would be merged into it.') }, closed)

export const mergeParams = Type.Object({ ...workspaceParams, mergeId: idSchema('The merge.') })
