import { listPage } from '../data/inbox/calls.ts'
import { t } from '../text/index.ts'
import type { PaletteSource } from '../ui/palette-sources.ts'
import { customerName } from './parts/words.ts'

const most = 6

/** Finds conversations by what is typed into the palette, whatever became of them. */
export const conversationSource: PaletteSource = async (workspaceId, term) => {
  const filter = { view: 'all', status: 'any', sort: 'recent', search: term } as const
  const { rows } = await listPage(workspaceId, filter, null)
  return rows.slice(0, most).map((row) => ({
    id: `conversation ${row.id}`,
    group: t.common.pages.inbox,
    label: customerName(row),
    hint: row.connectionName ?? '',
    // The router follows what is pushed onto the history.
    run: () => window.history.pushState({}, '', `/w/${workspaceId}/inbox/${row.id}`),
  }))
}
