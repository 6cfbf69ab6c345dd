import type { Conversation } from '../types.ts'

/** Says who answers, and lets people take over. */
export function OwnerBar(_: { workspaceId: string; conversation: Conversation }) {
  return null
}
