import { type TProperties, Type } from 'typebox'
import { titled } from '../base/route.ts'
import { text } from '../base/schema-types.ts'

/** What the schemas of all verbs share. */

const closed = { additionalProperties: false }

/** What a verb takes: nothing but these. */
export const input = <P extends TProperties>(fields: P) => Type.Object(fields, closed)

export const next = Type.Array(text(500, 'One thing.'), {
  maxItems: 5,
  description: 'What can be done now, in plain sentences.',
  example: ['Call wait_for_work for the next customer.'],
})

/** What a verb answers: these, and what can be done next. */
export const output = <P extends TProperties>(title: string, fields: P) => titled(title, { ...fields, next })

export const idempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x20-\\x7e]+$',
  description: 'Done once per key. Left out, it is made of the content and of what you have seen of the conversation.',
  example: 'order-1042-shipped',
})

/** The largest file that a message of a tool carries, either way: all of it is held several times over. */
export const maxFileInMessage = 2 * 1024 * 1024
