import { Type } from 'typebox'

/** The types that schemas of all rooms share. Whatever comes in or goes out has a limit, which the API documents. */

export const uuid = (description?: string, options: object = {}) =>
  Type.String({ format: 'uuid', maxLength: 36, ...(description === undefined ? {} : { description }), ...options })

/** As `encodeCursor` makes them. */
export const cursor = (description: string) => Type.String({ maxLength: 1000, description })

/** How many there are of something. */
export const count = (description?: string, options: object = {}) =>
  Type.Integer({
    minimum: 0,
    maximum: 2_147_483_647,
    ...(description === undefined ? {} : { description }),
    ...options,
  })

/** Milliseconds, bytes and whatever else grows larger than counts do. */
export const wholeNumber = (description: string, options: object = {}) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, ...options })

/** The pattern of a text in which there must be something that a person sees: `validation.ts` asks `isBlank`. */
export const visible = '\\S'

/** A text with no form of its own, of so many characters at most. */
export const text = (maxLength: number, description: string, options: object = {}) =>
  Type.String({ maxLength, description, ...options })

export const day = Type.String({
  format: 'date',
  maxLength: 10,
  description: 'The day in the zone.',
  example: '2026-03-01',
})

/** A token of a lead's status. */
export const leadStatus = (description: string, options: object = {}) =>
  Type.String({ pattern: '^[a-z0-9_]{1,50}$', maxLength: 50, description, ...options })

/** A path, query or header is part of a head, and no head is longer than this. */
export const maxHeadBytes = 128 * 1024

/** Of a list that is answered whole: people make what is in it, one by one, and come nowhere near. */
export const unpaged = { maxItems: 100_000 }

/** Of one page of a list. */
export const page = { maxItems: 100 }

/** Of an answer that is a page or a file. */
export const fileText = { maxLength: 2 ** 40 }
