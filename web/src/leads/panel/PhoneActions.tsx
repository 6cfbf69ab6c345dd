import { ActionIcon, CopyButton } from '@mantine/core'
import { IconBrandWhatsapp, IconCheck, IconCopy } from '@tabler/icons-react'
import { t } from '../../text/index.ts'
import { phoneInputText } from '../fields/lead.ts'

/** Copies a phone, or opens it in WhatsApp. */
export function PhoneActions({ phone }: { phone: string }) {
  const digits = phone.replace(/\D/g, '')
  return (
    <>
      <CopyButton value={phoneInputText(phone)}>
        {({ copied, copy }) => (
          <ActionIcon
            variant="subtle"
            color="gray"
            onClick={copy}
            aria-label={copied ? t.common.copied : t.leadPage.copyPhone}
          >
            {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
          </ActionIcon>
        )}
      </CopyButton>
      <ActionIcon
        component="a"
        href={`https://wa.me/${digits}`}
        target="_blank"
        rel="noreferrer"
        variant="subtle"
        color="gray"
        aria-label={t.leadPage.openWhatsapp}
      >
        <IconBrandWhatsapp size={14} />
      </ActionIcon>
    </>
  )
}
