import type { LeadSource, SourceInput } from '../../data/team/lead-sources.ts'

/** A source while it is edited; texts as typed. */
export interface SourceDraft extends Omit<SourceInput, 'formIds' | 'pageId' | 'idPath'> {
  formIds: string
  pageId: string
  idPath: string
}

export const mappings = {
  webhook: [
    { path: 'name', field: 'name' },
    { path: 'phone', field: 'phone' },
    { path: 'email', field: 'email' },
  ],
  lead_ads: [
    { path: 'full_name', field: 'name' },
    { path: 'phone_number', field: 'phone' },
    { path: 'email', field: 'email' },
  ],
}

const blank: SourceDraft = {
  ...{ kind: 'webhook', name: '', isEnabled: true, proof: 'signature', match: 'phone', mapping: mappings.webhook },
  ...{ idPath: '', connectionId: null, pageId: '', formIds: '' },
}

export function draftOf(source: LeadSource | null): SourceDraft {
  if (source === null) return blank
  const { kind, name, isEnabled, proof, match, mapping, connectionId, idPath, pageId, formIds } = source
  return {
    ...{ kind, name, isEnabled, proof, match, mapping, connectionId },
    ...{ idPath: idPath ?? '', pageId: pageId ?? '', formIds: formIds.join(', ') },
  }
}

/** Returns the rows that name a value. Errors of the server count only these. */
export const filledRows = (mapping: SourceDraft['mapping']): SourceDraft['mapping'] =>
  mapping.filter(({ path }) => path.trim() !== '')

export const inputOf = ({ formIds, pageId, idPath, mapping, ...rest }: SourceDraft): SourceInput => ({
  ...rest,
  mapping: filledRows(mapping).map(({ path, field }) => ({ path: path.trim(), field })),
  idPath: idPath.trim() || null,
  pageId: pageId.trim() || null,
  formIds: formIds.split(/[\s,;]+/).filter((id) => id !== ''),
})
