import { Type } from 'typebox'
import { oneOf, titled } from '../base/route.ts'
import { uuid, visiblePattern } from '../base/schema-types.ts'
import { languages } from '../base/text/languages.ts'
import { roles } from './member.ts'

interface RouteTags {
  tags: string[]
  security: Record<string, string[]>[]
}

/** Common schema parts of the team API's routes. `http/contract/openapi.ts` describes the tags. */
export const teamRoute = (tag: string): RouteTags => ({ tags: [tag], security: [{ session: [] }, { teamToken: [] }] })
/** For routes that are used before sign-in. */
export const openTeamRoute = (tag: string): RouteTags => ({ tags: [tag], security: [] })

export const idSchema = (description: string) => uuid(description, { example: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e' })

export const workspaceParams = { workspaceId: idSchema('The workspace.') }

export const roleSchema = oneOf(roles, {
  title: 'Role',
  description: 'member: daily work; admin: also people, keys and settings; owner: also owners and tokens.',
  example: 'member',
})

export const emailSchema = Type.String({
  maxLength: 254,
  pattern: '^\\s*[^\\s@]+@[^\\s@]+\\s*$',
  description: 'An e-mail address; compared in lower case.',
  example: 'ana@example.com',
})

export const personNameSchema = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: visiblePattern,
  description: 'Name that colleagues see.',
  example: 'Ana Lima',
})

export const languageSchema = oneOf(languages, { description: 'Language of mails.', example: 'en' })

export const newPasswordSchema = Type.String({
  minLength: 12,
  maxLength: 256,
  description: 'At least 12 characters.',
  example: 'four plain words together',
})

/** Refuses unknown fields in a body. */
export const closed = { additionalProperties: false }

export const done = titled('Done', { success: Type.Boolean({ example: true }) })
