import { findConversations } from '../data/inbox/calls.ts'
import { t } from '../text/index.ts'
import type { PaletteSource } from '../ui/palette-sources.ts'
import { customerName, phoneLabel } from './parts/inbox-texts.ts'

const maxResults = 6

/** Finds conversations by customer for the command palette. */
export const conversationSource: PaletteSource = async (workspaceId, term) => {
  const rows = await findConversations(workspaceId, term, maxResults)
  return rows.map((row) => {
    const [label, phone] = [customerName(row), phoneLabel(row.contact.phone) ?? '']
    return {
      id: `conversation ${row.id}`,
      group: t.common.palette.conversations,
      kind: t.common.palette.conversation,
      label,
      hint: phone === label ? '' : phone,
      // The router listens to history changes.
      run: () => window.history.pushState({}, '', `/w/${workspaceId}/inbox/${row.id}`),
    }
  })
}
