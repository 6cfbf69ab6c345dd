import { t } from '../../text/index.ts'

/** Translates a status; statuses that the workspace added are shown as spelled. */
export function statusName(status: string): string {
  const known: Record<string, string> = t.lead.statuses
  return known[status] ?? humanize(status)
}

/** Returns the label of a custom field; for URL parameters, a readable key. */
export const customFieldName = ({ key, label }: { key: string; label: string }): string =>
  label === key ? humanize(key.replace(/^k_/, '')).replace(/^Utm\b/, 'UTM') : label

function humanize(token: string): string {
  const words = token.replaceAll('_', ' ').trim()
  return words === '' ? token : words.charAt(0).toUpperCase() + words.slice(1)
}
