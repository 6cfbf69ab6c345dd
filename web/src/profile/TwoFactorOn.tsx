import { Group, Text } from '@mantine/core'
import { confirmTwoFactor } from '../data/team/profile.ts'
import { refreshSession } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Copyable } from '../ui/Copyable.tsx'
import { QrCode } from '../ui/QrCode.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { CodeField, DialogForm } from './DialogForm.tsx'

interface TwoFactorOnProps {
  enrolment: { secret: string; uri: string }
  close(): void
  onDone(recoveryCodes: readonly string[]): void
}

/** Shows the QR code, then asks for a code that proves that it was scanned. */
export default function TwoFactorOn({ enrolment, close, onDone }: TwoFactorOnProps) {
  const texts = t.profile.twoFactor
  const draft = useDraft({ code: '' })
  return (
    <DialogForm
      draft={draft}
      send={({ code }) => confirmTwoFactor(code.replace(/\s/g, ''))}
      done={async ({ recoveryCodes, csrfToken }) => {
        onDone(recoveryCodes)
        await refreshSession(csrfToken)
      }}
      title={texts.title}
      help={texts.scan}
      action={texts.turnOn}
      closeOnClickOutside={false}
      close={close}
    >
      <Group justify="center">
        <QrCode value={enrolment.uri} label={texts.qr} />
      </Group>
      <div>
        <Text size="sm" c="dimmed" mb={4}>
          {texts.typeInstead}
        </Text>
        <Copyable value={enrolment.secret} label={texts.secret} />
      </div>
      <CodeField draft={draft} help={texts.codeHelp} inputMode="numeric" data-autofocus />
    </DialogForm>
  )
}
