import { type Static, Type } from 'typebox'
import { oneOf } from '../../base/route.ts'
import { uuid } from '../../base/schema-types.ts'
import { ListQuery } from './schema.ts'

const described = (description: string, options: object) => Type.String({ description, ...options })

const someLabels = (description: string) =>
  Type.String({
    minLength: 36,
    maxLength: 20 * 37 - 1,
    pattern: '^[0-9a-fA-F-]{36}(,[0-9a-fA-F-]{36}){0,19}$',
    description: `${description} At most 20 ids with commas between them.`,
  })

/** The query of a list for people, who narrow and sort it by more than programs do. */
export const TeamListQuery = Type.Object(
  {
    ...ListQuery.properties,
    importId: Type.Optional(uuid('Leads that this import has created, changed, or found as they were.')),
    labels: Type.Optional(someLabels('Leads that have any of these labels.')),
    withoutLabels: Type.Optional(someLabels('Leads that have none of these labels.')),
    sortBy: Type.Optional(
      described(
        'Default `createdAt`. Any column but notes and labels, or `field:<key>` for a custom field. Texts stand by the letters of `sortLanguage`, choices in the order in which they are offered, assignees by name; what is empty stands last in both directions. Names, e-mails, phones, codes and custom fields are sorted in memory: 409 `LIST_NOT_READY` while the leads are read into it, 422 `LIST_TOO_LARGE` when they are more than it holds.',
        {
          maxLength: 50,
          pattern:
            '^(?:name|email|phone|uniqueCode|externalRef|status|priority|source|adPlatform|assignedTo|estimatedValue|actualValue|createdAt|updatedAt|field:[a-z][a-z0-9_]{0,39})$',
          example: 'name',
        },
      ),
    ),
    sortLanguage: Type.Optional(oneOf(['en', 'es', 'pt'], { description: 'Whose order of letters; default `en`.' })),
    where: Type.Optional(
      described(
        'At most 20 conditions beside the other filters, as `column.operator.value.value` with `;` between them; in a value `.`, `;` and `%` are percent-encoded. Columns are those of `sortBy`, `notes` and `labels` (by ids). Operators: `is`, `isNot` (one of the values), `contains`, `from`, `to`, `between`, `last` (days), `empty`, `notEmpty`. A column takes those that make sense of it; a custom field compares numbers with numbers and days with days.',
        { maxLength: 8000, example: 'estimatedValue.between.100.500;email.notEmpty' },
      ),
    ),
    match: Type.Optional(oneOf(['all', 'any'], { description: 'How many of `where` have to hold. Default `all`.' })),
  },
  { additionalProperties: false },
)
/** What narrows the list, for what looks at all of it. */
export const listFilters = Type.Omit(TeamListQuery, [
  'cursor',
  'limit',
  'page',
  'sortBy',
  'sortOrder',
  'sortLanguage',
]).properties
export type TeamListQuery = Static<typeof TeamListQuery>
