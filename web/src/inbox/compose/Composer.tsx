import type { Conversation } from '../types.ts'

export function Composer(_: { workspaceId: string; conversation: Conversation; onSent?: () => void }) {
  return null
}
