import { Anchor, Button, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { sendTestMail } from '../data/team/profile.ts'
import { useSession } from '../session/session.ts'
import { language, t } from '../text/index.ts'
import { Copyable } from '../ui/Copyable.tsx'
import { showError } from '../ui/overlay/toasts.tsx'
import { Section } from '../ui/page/Section.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './AboutSection.module.css'

export function AboutSection() {
  const workspaceId = useWorkspaceId()
  const { version } = useSession()
  const texts = t.settings.about
  return (
    <>
      <Section title={t.common.product}>
        <dl className={styles.facts}>
          <dt>{texts.version}</dt>
          <dd>{version}</dd>
          <dt>{texts.licence}</dt>
          <dd>Apache-2.0</dd>
          <dt>{texts.address}</dt>
          <dd>
            <Copyable value={window.location.origin} label={texts.address} />
          </dd>
          <dt>{texts.workspaceId}</dt>
          <dd>
            <Copyable value={workspaceId} label={texts.workspaceId} />
          </dd>
        </dl>
      </Section>
      <MailSection />
      <Section
        title={texts.reference}
        help={texts.referenceHelp}
        footer={
          <Anchor href="/docs" target="_blank" rel="noreferrer" size="sm">
            {texts.openReference}
          </Anchor>
        }
      />
    </>
  )
}

/** Whether the installation sends mail. Operators can send a test mail to themselves. */
function MailSection() {
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
