import type { Conversation } from '../types.ts'

export function CustomerPane(_: { workspaceId: string; conversation: Conversation }) {
  return null
}
