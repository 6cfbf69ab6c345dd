import { ActionIcon } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import type { LeadField } from '../../data/lead-fields.ts'
import { t } from '../../text/index.ts'
import { isValidValue, parseTyped } from '../../ui/format/custom-value.ts'

interface OpenLinkProps {
  field: Pick<LeadField, 'label' | 'type' | 'choices'>
  text: string
}

/** Link for a URL, e-mail or phone; renders nothing for other values. */
export function OpenLink({ field, text }: OpenLinkProps) {
  const value = parseTyped(field, text)
  if (typeof value !== 'string' || !isValidValue(field, value)) return null
  const prefix = { url: '', email: 'mailto:', phone: 'tel:' }[field.type as string]
  if (prefix === undefined) return null
  return (
    <ActionIcon
      component="a"
      href={`${prefix}${field.type === 'phone' ? value.replace(/[^\d+]/g, '') : value}`}
      {...(field.type === 'url' && { target: '_blank', rel: 'noreferrer noopener' })}
      variant="subtle"
      color="gray"
      size="sm"
      aria-label={t.fields.openLink({ name: field.label })}
    >
      <IconExternalLink size={14} />
    </ActionIcon>
  )
}
