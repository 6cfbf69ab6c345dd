/** Placeholders that a rule's texts may contain in `{{…}}`. */
export const placeholders = [
  'contact.name',
  'contact.first_name',
  'contact.phone',
  'workspace.name',
  'me.name',
] as const

export interface TextValues {
  contactName: string | null
  contactPhone: string | null
  workspaceName: string
  /** Who runs a macro; a rule speaks for the workspace. */
  authorName: string | null
}

/** Fills in the placeholders of a text. A customer without a name is spoken to without one. */
export function fillText(text: string, values: TextValues): string {
  const name = values.contactName ?? ''
  const known: Record<(typeof placeholders)[number], string> = {
    'contact.name': name,
    'contact.first_name': name.split(/\s/, 1)[0] ?? '',
    'contact.phone': values.contactPhone === null ? '' : `+${values.contactPhone}`,
    'workspace.name': values.workspaceName,
    'me.name': values.authorName ?? values.workspaceName,
  }
  return text.replaceAll(/\{\{([^{}]{1,100})\}\}/g, (whole, inner: string) => {
    const found = placeholders.find((placeholder) => placeholder === inner.trim())
    return found === undefined ? whole : known[found]
  })
}
