import { requestIdHeader } from '../server/request-id.ts'

const count = (description: string, example: number) => ({
  description,
  schema: { type: 'integer', minimum: 0, maximum: 9_007_199_254_740_991, examples: [example] },
})

/** The headers of answers, as `components` has them. */
export const headerComponents = {
  RequestId: {
    description: 'Names this request in the logs. Quote it when reporting a problem.',
    schema: { type: 'string', maxLength: 64 },
  },
  RetryAfter: count('Seconds to wait before the next try.', 12),
  RateLimitLimit: count(
    'Requests that the limit allows a minute. Absent, as all of these, when it is turned off.',
    3000,
  ),
  RateLimitRemaining: count('Requests left of them.', 2999),
  RateLimitReset: count('Seconds until all of them are there again.', 60),
  RateLimitPolicy: {
    description: 'The limit and its window in seconds.',
    schema: { type: 'string', maxLength: 64, examples: ['3000;w=60'] },
  },
}

const refer = (name: keyof typeof headerComponents) => ({ $ref: `#/components/headers/${name}` })

export const always = { [requestIdHeader]: refer('RequestId') }
export const whenToRetry = { 'Retry-After': refer('RetryAfter') }
export const limits = {
  'RateLimit-Limit': refer('RateLimitLimit'),
  'RateLimit-Remaining': refer('RateLimitRemaining'),
  'RateLimit-Reset': refer('RateLimitReset'),
  'RateLimit-Policy': refer('RateLimitPolicy'),
}
