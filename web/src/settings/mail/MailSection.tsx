import { Button, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { sendTestMail } from '../../data/team/profile.ts'
import { useSession } from '../../session/session.ts'
import { language, t } from '../../text/index.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { Section } from '../../ui/page/Section.tsx'

/** Whether the installation sends mail. Operators can send a test mail to themselves. */
export function MailSection() {
  const texts = t.settings.about
  const { sendsMail, user } = useSession()
  const test = useMutation({
    mutationFn: (email: string) => sendTestMail(email, language),
    onError: showError,
  })
  return (
    <Section
      title={texts.mail}
      help={sendsMail ? texts.mailOn : texts.mailOff}
      footer={
        sendsMail &&
        user?.isOperator && (
          <Button variant="default" loading={test.isPending} onClick={() => test.mutate(user.email)}>
            {texts.mailTest}
          </Button>
        )
      }
    >
      <Text size="sm" role="status" style={{ overflowWrap: 'anywhere' }}>
        {test.data !== undefined && texts.mailTested({ answer: test.data.answer })}
      </Text>
    </Section>
  )
}
