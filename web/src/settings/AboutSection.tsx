import { Anchor } from '@mantine/core'
import { useSession } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Copyable } from '../ui/Copyable.tsx'
import { Section } from '../ui/page/Section.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './AboutSection.module.css'
import { MailSection } from './mail/MailSection.tsx'

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
