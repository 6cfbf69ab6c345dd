import { Text } from '@mantine/core'
import type { Invitation } from '../../data/team/invitations.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { formatDateTime } from '../../ui/format/time.ts'

const tones = { waiting: 'plain', sent: 'good', refused: 'bad', expired: 'bad' } as const

/** State of a mail, with the words of the mail server if it has not taken it. */
export function MailState({ mail }: { mail: Invitation['mail'] }) {
  const texts = t.settings.members
  if (mail === null) return <Text size="sm">{texts.mails.none}</Text>
  const { status, answer, at } = mail
  return (
    <>
      <Chip tone={tones[status]} title={formatDateTime(at)}>
        {texts.mails[status]}
      </Chip>
      {status !== 'sent' && answer !== null && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {answer}
        </Text>
      )}
    </>
  )
}
