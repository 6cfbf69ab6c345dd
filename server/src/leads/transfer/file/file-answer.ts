import type { Readable } from 'node:stream'
import { Type } from 'typebox'
import { fileText } from '../../../base/schema-types.ts'

/** An answer that is a file. */
export const fileAnswer = (description: string) =>
  Type.Unsafe<Readable>({
    description,
    content: {
      'text/csv': { schema: Type.String(fileText) },
      'application/x-ndjson': { schema: Type.String(fileText) },
    },
  })
