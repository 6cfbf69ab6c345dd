import { Select } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { useState } from 'react'
import { useApiKeys, useKeyCalls } from '../../data/keys.ts'
import { useMcpAddress } from '../../data/team/oauth.ts'
import { hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { CodeBlock } from '../../ui/CodeBlock.tsx'
import { Copyable } from '../../ui/Copyable.tsx'
import { formatDateTimeSeconds } from '../../ui/format/time.ts'
import { BackLink } from '../../ui/page/BackLink.tsx'
import { PageBody, QueryBoundary } from '../../ui/page/PageBody.tsx'
import { PageHeader } from '../../ui/page/PageHeader.tsx'
import { Section, SectionTitle } from '../../ui/page/Section.tsx'
import { Segments } from '../../ui/page/Segments.tsx'
import { useIsPhone } from '../../ui/use-is-phone.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './ConnectPage.module.css'
import { type ChosenKey, KeyChoice } from './KeyChoice.tsx'
import { type AppName, addressProblem, apps, appTitles, stepsOf, usesOAuth } from './snippets.ts'

const placeholder = 'YOUR_KEY'
/** The server's clock may be a little behind. */
const clockSkewMs = 5000

/** The exact steps to connect an agent, with the key filled in; says when its first call arrives. */
export function ConnectPage() {
  const texts = t.keys.connect
  const address = useMcpAddress()
  return (
    <>
      <PageHeader title={texts.title} before={<BackLink path="keys" label={t.keys.title} />} />
      <PageBody narrow>
        <QueryBoundary query={address}>
          {({ url, hasOAuth }) => (
            <SectionTitle value="h2">
              <Connect url={url} hasOAuth={hasOAuth} />
            </SectionTitle>
          )}
        </QueryBoundary>
      </PageBody>
    </>
  )
}

function Connect({ url, hasOAuth }: { url: string; hasOAuth: boolean }) {
  const texts = t.keys.connect
  const [app, setApp] = useState<AppName>('claude')
  const [chosen, setChosen] = useState<ChosenKey | null>(null)
  const [openedAt] = useState(() => new Date(Date.now() - clockSkewMs).toISOString())
  const isByOAuth = usesOAuth(app)
  return (
    <>
      <Section title={texts.app} help={texts.appHelp}>
        <AppChoice app={app} choose={setApp} />
        <AddressWarning url={url} isByOAuth={isByOAuth} hasOAuth={hasOAuth} />
      </Section>
      {!isByOAuth && <KeyChoice title={appTitles[app]} chosen={chosen} choose={setChosen} />}
      <Section title={texts.stepsTitle}>
        <ol className={styles.steps}>
          {stepsOf(app, url, chosen?.value ?? placeholder).map(({ text, code }) => (
            <li key={text}>
              <p>{text}</p>
              {code !== undefined && <Code label={text} value={code} />}
            </li>
          ))}
        </ol>
      </Section>
      {isByOAuth ? (
        <OAuthCall openedAt={openedAt} />
      ) : (
        chosen !== null && <FirstCall keyId={chosen.id} since={openedAt} />
      )}
    </>
  )
}

function AppChoice({ app, choose }: { app: AppName; choose(app: AppName): void }) {
  const data = apps.map((name) => ({ value: name, label: appTitles[name] }))
  const label = t.keys.connect.app
  // On a phone, seven names do not fit beside each other.
  if (useIsPhone()) {
    return (
      <Select
        aria-label={label}
        data={data}
        value={app}
        onChange={(chosen) => choose(chosen as AppName)}
        allowDeselect={false}
      />
    )
  }
  return <Segments label={label} data={data} value={app} onChange={choose} />
}

function Code({ label, value }: { label: string; value: string }) {
  return value.includes('\n') ? <CodeBlock label={label} value={value} /> : <Copyable label={label} value={value} />
}

interface AddressWarningProps {
  url: string
  isByOAuth: boolean
  hasOAuth: boolean
}

function AddressWarning({ url, isByOAuth, hasOAuth }: AddressWarningProps) {
  const texts = t.keys.connect
  const problem = addressProblem(url)
  if (problem === null) return null
  const words = isByOAuth && !hasOAuth ? texts.noOAuth : texts.problems[problem]
  return <p className={styles.warning}>{words}</p>
}

const pollMs = 5000

/** Waits for a key that a person grants by OAuth while the page is open, then for its first call. */
function OAuthCall({ openedAt }: { openedAt: string }) {
  const workspaceId = useWorkspaceId()
  const { data: keys = [] } = useApiKeys(workspaceId, pollMs)
  const granted = keys.find(({ oauth, createdAt }) => oauth !== null && createdAt >= openedAt)
  if (!hasRole(workspaceId, 'admin')) return null
  return <FirstCall keyId={granted?.id ?? null} since={openedAt} />
}

interface FirstCallProps {
  /** Null while there is no key yet. */
  keyId: string | null
  /** When the page was opened. */
  since: string
}

/** Says whether the key has been used since then. */
function FirstCall({ keyId, since }: FirstCallProps) {
  const texts = t.keys.connect
  if (keyId !== null) return <CallOf keyId={keyId} since={since} />
  return (
    <p className={styles.call} role="status">
      <span className={styles.waiting} aria-hidden="true" />
      {texts.waitingForGrant}
    </p>
  )
}

function CallOf({ keyId, since }: { keyId: string; since: string }) {
  const texts = t.keys.connect
  const { data: calls = [] } = useKeyCalls(useWorkspaceId(), keyId)
  const first = calls.findLast(({ at }) => at >= since)
  if (first === undefined) {
    return (
      <p className={styles.call} role="status">
        <span className={styles.waiting} aria-hidden="true" />
        {texts.waiting}
      </p>
    )
  }
  const call = first.verb ?? `${first.method} ${first.route}`
  const isGood = first.status < 400
  return (
    <p className={styles.call} role="status" data-tone={isGood ? 'good' : 'bad'}>
      {isGood && <IconCircleCheck size={20} aria-hidden="true" />}
      <span>
        {isGood
          ? texts.connected({ call, time: formatDateTimeSeconds(first.at) })
          : texts.refused({ call, status: first.status })}
      </span>
    </p>
  )
}
