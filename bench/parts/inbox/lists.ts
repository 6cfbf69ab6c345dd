import { baselineConversation } from '../../baselines/inbox-baseline-tables.ts'
import type { Comparison } from '../../comparison.ts'
import { requestBytes } from '../../load.ts'

export function lists(key: string, readable: readonly string[]): Comparison[] {
  const headers = { authorization: `Bearer ${key}` }
  const messagesPath = (n: number) => `/api/v1/inbox/conversations/${readable[n % readable.length]}/messages`
  const baselineMessages = (n: number) =>
    requestBytes('GET', `/conversations/${baselineConversation(n % readable.length)}/messages`, {})
  return [
    {
      name: 'list of 30 conversations',
      product: () => requestBytes('GET', '/api/v1/inbox/conversations', headers),
      baseline: () => requestBytes('GET', '/conversations', {}),
    },
    {
      name: 'list of 50 messages',
      product: (n) => requestBytes('GET', messagesPath(n), headers),
      baseline: baselineMessages,
    },
    {
      name: 'list of 50 messages, compressed (baseline: plain)',
      product: (n) => requestBytes('GET', messagesPath(n), { ...headers, 'accept-encoding': 'gzip' }),
      baseline: baselineMessages,
    },
  ]
}
