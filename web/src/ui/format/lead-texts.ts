import { t } from '../../text/index.ts'

/** A status in the reader's words; those of the workspace's own making as they are spelled. */
export function statusName(status: string): string {
  const known: Record<string, string> = t.lead.statuses
  return known[status] ?? humanize(status)
}

/** What a custom field is called; of a parameter that came with an address, its key as people say it. */
export const customFieldName = ({ key, label }: { key: string; label: string }): string =>
  label === key ? humanize(key.replace(/^k_/, '')).replace(/^Utm\b/, 'UTM') : label

function humanize(token: string): string {
  const words = token.replaceAll('_', ' ').trim()
  return words === '' ? token : words.charAt(0).toUpperCase() + words.slice(1)
}
