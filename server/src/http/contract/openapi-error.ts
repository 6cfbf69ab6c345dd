import type { Schema } from './openapi-types.ts'

export const errorSchema: Schema = {
  type: 'object',
  title: 'Error',
  description: 'The one shape of every error.',
  required: ['statusCode', 'statusMessage'],
  properties: {
    statusCode: { type: 'integer', description: 'The HTTP status.', examples: [400] },
    statusMessage: { type: 'string', description: 'What went wrong, for people.', examples: ['Validation failed'] },
    data: {
      type: 'object',
      description: 'What a program may need: `issues`, `code`, `field` or `requestId`.',
      properties: {
        code: { type: 'string', description: 'To branch on.', examples: ['RATE_LIMITED'] },
        field: { type: 'string', description: 'The field whose value is taken.', examples: ['externalRef'] },
        requestId: { type: 'string', description: 'As in `x-request-id`: quote it when reporting a fault.' },
        issues: {
          type: 'array',
          description: 'What does not fit, at most 20.',
          items: {
            type: 'object',
            required: ['path', 'message'],
            properties: {
              path: {
                type: 'string',
                description: 'The field; empty for the whole.',
                examples: ['items[3].lead.email'],
              },
              message: { type: 'string', description: 'What to change.', examples: ['is required'] },
            },
          },
        },
      },
      additionalProperties: true,
    },
  },
}

/** Whether a schema says no more than "an error". */
export function isError({ properties = {} }: { properties?: unknown }): boolean {
  const { statusCode, statusMessage, data, ...others } = properties as Record<string, Schema>
  return Boolean(statusCode && statusMessage && Object.keys(others).length === 0 && !data?.properties)
}

/** The example of one, of the examples of its parts. */
export function exampleOfError({ properties = {} }: { properties?: unknown }): object {
  const { statusCode, statusMessage, data } = properties as Record<string, Schema>
  const example = { statusCode: statusCode?.example, statusMessage: statusMessage?.example }
  return data?.example === undefined ? example : { ...example, data: data.example }
}
