import { Type } from 'typebox'

/** Schema types that all modules share. All input and output has limits, which the API documents. */

export const uuid = (description?: string, options: object = {}) =>
  Type.String({ format: 'uuid', maxLength: 36, ...(description === undefined ? {} : { description }), ...options })

/** A cursor from `encodeCursor`. */
export const cursor = (description: string) => Type.String({ maxLength: 1000, description })

/** A number of things. */
export const count = (description?: string, options: object = {}) =>
  Type.Integer({
    minimum: 0,
    maximum: 2_147_483_647,
    ...(description === undefined ? {} : { description }),
    ...options,
  })

/** Milliseconds, bytes and other numbers larger than counts. */
export const wholeNumber = (description: string, options: object = {}) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, ...options })

/** Pattern of a text that must contain a visible character: `validation.ts` replaces it by `isBlank`. */
export const visiblePattern = '\\S'

/** Free text with a maximum length. */
export const text = (maxLength: number, description: string, options: object = {}) =>
  Type.String({ maxLength, description, ...options })

export const day = Type.String({
  format: 'date',
  maxLength: 10,
  description: 'Day in the time zone.',
  example: '2026-03-01',
})

/** The status of a lead. */
export const leadStatus = (description: string, options: object = {}) =>
  Type.String({ pattern: '^[a-z0-9_]{1,50}$', maxLength: 50, description, ...options })

/** Paths, queries and headers are part of the HTTP head, which has this limit. */
export const maxHeadBytes = 128 * 1024

/** Limit of an unpaged list: people create its items one by one and stay far below. */
export const unpaged = { maxItems: 100_000 }

/** Limit of one page of a list. */
export const page = { maxItems: 100 }

/** Limit of a response that is a page or a file. */
export const fileText = { maxLength: 2 ** 40 }
