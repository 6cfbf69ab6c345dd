import { Type } from 'typebox'
import { oneOf, titled } from '../base/route.ts'
import { uuid, visible } from '../base/schema-types.ts'
import { roles } from './member.ts'

interface RouteTags {
  tags: string[]
  security: Record<string, string[]>[]
}

/** What the schemas of the team API's routes share; the tag is one that `http/contract/openapi.ts` describes. */
export const teamRoute = (tag: string): RouteTags => ({ tags: [tag], security: [{ session: [] }, { teamToken: [] }] })
/** For routes that a person reaches before there is a session. */
export const openTeamRoute = (tag: string): RouteTags => ({ tags: [tag], security: [] })

export const idSchema = (description: string) => uuid(description, { example: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e' })

export const workspaceParams = { workspaceId: idSchema('The workspace.') }

export const roleSchema = oneOf(roles, {
  title: 'Role',
  description: 'member works; admin also manages people, keys and settings; owner also manages owners and tokens.',
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
  pattern: visible,
  description: 'How colleagues see the person.',
  example: 'Ana Lima',
})

export const newPasswordSchema = Type.String({
  minLength: 12,
  maxLength: 256,
  description: 'At least 12 characters.',
  example: 'four plain words together',
})

/** A body that refuses what it does not know. */
export const closed = { additionalProperties: false }

export const done = titled('Done', { success: Type.Boolean({ example: true }) })
