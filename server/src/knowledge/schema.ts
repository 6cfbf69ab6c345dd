import { type Static, Type } from 'typebox'
import { invalid } from '../base/errors.ts'
import { nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, text, uuid, visiblePattern } from '../base/schema-types.ts'
import { parseIsoTime } from '../base/time.ts'
import { closed, idSchema } from '../team/team-schema.ts'
import type { ArticleFields, ArticleHead, ArticleVersion } from './article.ts'
import { articleKinds, articleSources, articleStatuses, limits, maxVersions } from './article.ts'
import { maxSnippet } from './search.ts'

export const knowledgePath = '/api/team/v1/workspaces/:workspaceId/knowledge'

export const kind = oneOf(articleKinds, {
  title: 'ArticleKind',
  description: '`answer`: a short text that can be sent as it is. `article`: anything longer.',
  example: 'article',
})
export const status = oneOf(articleStatuses, {
  title: 'ArticleStatus',
  description: 'Agents and searches find only what is published.',
  example: 'published',
})
const source = oneOf(articleSources, { title: 'ArticleSource', description: 'Where it comes from.', example: 'app' })
export const language = Type.String({
  pattern: '^[A-Za-z]{2,3}$',
  minLength: 2,
  maxLength: 3,
  description: 'Code of the language (ISO 639), which decides how its words are searched.',
  example: 'en',
})
const title = Type.String({
  minLength: 1,
  maxLength: limits.title,
  pattern: visiblePattern,
  description: 'The question that it answers, as customers ask it.',
  example: 'How do I return something?',
})
const body = Type.String({
  minLength: 1,
  maxLength: limits.body,
  pattern: visiblePattern,
  description: 'Markdown.',
  example: 'Within **30 days**, in any shop.',
})
const tags = Type.Array(Type.String({ minLength: 1, maxLength: limits.tag, pattern: visiblePattern }), {
  maxItems: limits.tags,
  description: 'Further words by which it is found.',
  example: ['refund'],
})
const sourceAddress = nullable(
  text(limits.address, 'Where an import read it: the address of a page, or the path of a file.', {
    example: 'https://shop.example/help/returns',
  }),
)
const version = count('Counts its changes.', { example: 3 })

/** Fields of an article, for both interfaces; the interface for agents names them in snake_case. */
export const articleFields = {
  kind,
  language,
  title,
  body,
  tags,
  keyIds: nullable(
    Type.Array(uuid(), {
      maxItems: limits.keys,
      description: 'Only agents with these keys can read it; null: all whose key can read knowledge.',
      example: null,
    }),
  ),
  validFrom: nullable(timestamp('Agents and searches find it from then on; null: at once.')),
  validUntil: nullable(timestamp('They find it until then; null: without an end.')),
}

const author = titled('ArticleAuthor', {
  type: oneOf(['user', 'token', 'agent'] as const, { description: 'Who changed it: `agent` is an API key.' }),
  id: idSchema('The member, team token or API key.'),
})

const { body: bodyField, ...headFields } = articleFields
export const KnowledgeHead = titled('KnowledgeArticleHead', {
  id: idSchema('The article.'),
  status,
  ...headFields,
  source,
  sourceAddress,
  version,
  createdAt: timestamp('Creation time.'),
  updatedAt: timestamp('Time of the last change.'),
  publishedAt: nullable(timestamp('When it was last published; null: never.')),
  actor: author,
})
export const KnowledgeArticle = titled('KnowledgeArticle', { ...KnowledgeHead.properties, body: bodyField })
export const FoundKnowledge = titled('FoundKnowledge', {
  ...KnowledgeHead.properties,
  snippet: text(maxSnippet, 'The part of its text that fits the query.'),
})

const versionFields = { version, language, title, tags, createdAt: timestamp('When.'), actor: author }
export const KnowledgeVersion = titled('KnowledgeVersion', { ...versionFields, body })
export const KnowledgeVersions = Type.Array(titled('KnowledgeVersionHead', versionFields), {
  maxItems: maxVersions,
  description: `The newest first; the last ${maxVersions} are kept.`,
})

export const NewKnowledge = Type.Object(
  {
    ...{ kind, language, title, body },
    tags: Type.Optional(tags),
    keyIds: Type.Optional(articleFields.keyIds),
    validFrom: Type.Optional(articleFields.validFrom),
    validUntil: Type.Optional(articleFields.validUntil),
    status: Type.Optional(status),
  },
  closed,
)

export const KnowledgeChanges = Type.Object(
  {
    version: count(
      'The version that you have changed: with another one, nothing is changed (409 with the current `version`).',
    ),
    ...Type.Partial(Type.Object(articleFields)).properties,
    status: Type.Optional(status),
  },
  { ...closed, minProperties: 2 },
)

/** Fields as requests have them: times are texts, and absent fields stay as they are. */
const Fields = Type.Object(articleFields)
type FieldsInput = Partial<Static<typeof Fields>>

/** Returns the fields that a request sets. Throws 400 for a time that does not exist. */
export function changedFields(input: FieldsInput): Partial<ArticleFields> {
  const { kind, language, title, body, tags, keyIds, validFrom, validUntil } = input
  return {
    ...(kind !== undefined && { kind }),
    ...(language !== undefined && { language }),
    ...(title !== undefined && { title }),
    ...(body !== undefined && { body }),
    ...(tags !== undefined && { tags }),
    ...(keyIds !== undefined && { keyIds }),
    ...(validFrom !== undefined && { validFrom: readTime('validFrom', validFrom) }),
    ...(validUntil !== undefined && { validUntil: readTime('validUntil', validUntil) }),
  }
}

function readTime(field: string, value: string | null): Date | null {
  if (value === null) return null
  const time = parseIsoTime(value)
  if (time === null) throw invalid(field, 'must be a date and time, such as 2026-03-01T12:00:00Z')
  return time
}

/** Returns all fields, with defaults for those that a request may omit. */
export const newFields = (
  input: FieldsInput & Pick<ArticleFields, 'kind' | 'language' | 'title' | 'body'>,
): ArticleFields => {
  const { kind, language, title, body } = input
  const defaults = { kind, language, title, body, tags: [], keyIds: null, validFrom: null, validUntil: null }
  return { ...defaults, ...changedFields(input) }
}

/** Presents an article: its head, and if it has them, its text or the part of it that a search found. */
export const presentArticle = <A extends ArticleHead>(article: A) => ({
  ...article,
  validFrom: article.validFrom?.toISOString() ?? null,
  validUntil: article.validUntil?.toISOString() ?? null,
  createdAt: article.createdAt.toISOString(),
  updatedAt: article.updatedAt.toISOString(),
  publishedAt: article.publishedAt?.toISOString() ?? null,
})

export const presentVersion = <V extends Omit<ArticleVersion, 'body'>>(found: V) => ({
  ...found,
  createdAt: found.createdAt.toISOString(),
})
