import { Input, Stack } from '@mantine/core'
import { t } from '../../text/index.ts'
import { Copyable } from '../../ui/Copyable.tsx'

interface AddressesProps {
  redirectUri: string
  logoutUri: string
  startUri: string
}

/** Addresses of this service to enter at the provider. */
export function Addresses({ redirectUri, logoutUri, startUri }: AddressesProps) {
  const texts = t.settings.sso
  const rows = [
    { label: texts.redirectUri, value: redirectUri },
    { label: texts.logoutUri, value: logoutUri },
    { label: texts.startUri, value: startUri },
    { label: texts.scimUri, value: `${new URL(startUri).origin}/scim/v2` },
  ]
  return (
    <Input.Wrapper label={texts.addresses} labelElement="div">
      <Stack gap={6} mt={4}>
        {rows.map(({ label, value }) => (
          <div key={label}>
            <Input.Description>{label}</Input.Description>
            <Copyable value={value} label={label} />
          </div>
        ))}
      </Stack>
    </Input.Wrapper>
  )
}
