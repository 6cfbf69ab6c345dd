import { findLeads } from '../data/leads.ts'
import { t } from '../text/index.ts'
import { formatPhone } from '../ui/format/phone.ts'
import type { PaletteSource } from '../ui/palette-sources.ts'

const maxResults = 6

/** Finds leads for the command palette. */
export const leadSource: PaletteSource = async (workspaceId, term) => {
  const leads = await findLeads(workspaceId, term, maxResults)
  return leads.map(({ id, firstName, lastName, phone, email }) => ({
    id: `lead ${id}`,
    group: t.common.pages.leads,
    kind: t.common.palette.lead,
    label: [firstName, lastName].filter(Boolean).join(' '),
    hint: phone === null ? (email ?? '') : formatPhone(phone),
    // The router listens to history changes.
    run: () => window.history.pushState({}, '', `/w/${workspaceId}/leads?lead=${id}`),
  }))
}
